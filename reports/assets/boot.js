(function () {
  "use strict";
  var root = document.documentElement, drawn = [];
  function css(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
  function theme() {
    var soft = css("--soft"), line = css("--line"), text = { color: soft };
    var axis = { axisLine: { lineStyle: { color: line } }, axisTick: { lineStyle: { color: line } }, axisLabel: text,
      nameTextStyle: text, splitLine: { lineStyle: { color: [line] } } };
    return { color: [1, 2, 3, 4, 5, 6, 7, 8].map(function (i) { return css("--c" + i); }), backgroundColor: "transparent",
      textStyle: { color: css("--fg"), fontFamily: getComputedStyle(document.body).fontFamily },
      categoryAxis: axis, valueAxis: axis, timeAxis: axis, logAxis: axis, legend: { textStyle: { color: css("--fg") } },
      tooltip: { backgroundColor: css("--panel"), borderColor: line, textStyle: { color: css("--fg") } },
      markLine: { label: { color: soft }, lineStyle: { color: soft } }, markArea: { label: { color: soft, textBorderWidth: 0 } },
      visualMap: { color: [css("--heat2"), css("--heat1")], textStyle: text } };
  }
  // A colour written as --name is one of the page's.
  function colours(key, value) { return key === "color" && /^--[a-z]+$/.test(value) ? css(value) : value; }
  // The view box lets a print style scale the drawing.
  function box(chart) {
    var svg = chart.getDom().querySelector("svg");
    if (svg) svg.setAttribute("viewBox", "0 0 " + chart.getWidth() + " " + chart.getHeight());
  }
  function draw() {
    drawn.forEach(function (chart) { chart.dispose(); });
    var options = JSON.parse(document.getElementById("options").textContent, colours), look = theme();
    drawn = Object.keys(options).map(function (id) {
      var chart = echarts.init(document.getElementById(id), look, { renderer: "svg" });
      chart.setOption(options[id]);
      box(chart);
      return chart;
    });
    root.dataset.charts = drawn.length;
  }
  function print(on) { if (on) root.dataset.print = ""; else delete root.dataset.print; draw(); }
  window.addEventListener("error", function (e) { root.dataset.errors = (root.dataset.errors || "") + e.message + "; "; });
  window.addEventListener("resize", function () { drawn.forEach(function (chart) { chart.resize(); box(chart); }); });
  window.addEventListener("beforeprint", function () { print(true); });
  window.addEventListener("afterprint", function () { print(false); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
