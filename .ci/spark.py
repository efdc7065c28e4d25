"""Runs statements on Spark in this process, for the test that compares it with DuckDB (make test-spark). A line of standard input is {"text": STATEMENTS}, as
reprise sql prints them; a line of standard output {"columns": [...], "rows": [...]} of the last one that gives any, or {"error": MESSAGE}."""
import datetime, decimal, json, math, re, sys
from pyspark.sql import SparkSession

def plain(v):
    if isinstance(v, float):
        return v if math.isfinite(v) else None  # as analyze has it
    if isinstance(v, decimal.Decimal):
        return int(v) if v == v.to_integral_value() else float(v)
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v

session = (SparkSession.builder.master("local[2]").appName("reprise").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "2g")
           .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "1")
           .config("spark.sql.session.timeZone", "America/St_Johns")  # nothing may depend on it
           .config("spark.sql.warehouse.dir", sys.argv[1]).getOrCreate())
session.sparkContext.setLogLevel("OFF")
print(json.dumps({"columns": [session.version], "rows": []}), flush=True)
for line in sys.stdin:
    answer = {}
    try:
        for statement in re.split(r";\n+", json.loads(line)["text"] + "\n"):
            if re.sub(r"--[^\n]*", "", statement).strip():
                frame = session.sql(statement)
                if frame.columns and not re.match(r"\s*SET\b", statement):
                    answer = {"columns": frame.columns, "rows": [plain(r) for r in frame.collect()]}
    except Exception as e:
        answer = {"error": str(e).split(";\n")[0][:2000]}
    print(json.dumps(answer), flush=True)
