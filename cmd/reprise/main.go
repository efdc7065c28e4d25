// Command reprise turns LLM request logs into Parquet, says why the tail was slow, and sends the same traffic again.
//
// One file a command; each returns a cobra command whose RunE is a few lines over the packages. main.go lists them,
// exit.go alone turns errors into exit codes and messages.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// app is what every command needs of the world: streams, and how to speak.
type app struct {
	in       io.Reader
	out, err io.Writer
	quiet    bool                       // no talk on stderr
	terminal bool                       // stderr is a terminal: progress may be drawn
	colour   bool                       // stdout is a terminal and NO_COLOR is not set
	width    int                        // columns of stdout; 0 when it is no terminal
	size     func() (width, height int) // of the terminal that stdout is, as it is now; nil when it is none
	buckets  buckets
	limits   limitFlags
	running  bool // the command line was understood: what fails from here on is not a matter of usage
}

// commands is the one list; adding a command is adding a line.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.ingestCommand(),
		a.compactCommand(),
		a.formatsCommand(),
		a.analyzeCommand(),
		a.queryCommand(),
		a.sqlCommand(),
		a.planCommand(),
		a.replayCommand(),
		a.compareCommand(),
		a.experimentCommand(),
		a.sweepCommand(),
		a.selfcheckCommand(),
		a.reportCommand(),
		a.exportCommand(),
		a.demoCommand(),
		a.fakellmCommand(),
		a.manCommand(),
	}
}

func main() {
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
		colour:   term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "",
	}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		a.size = func() (width, height int) {
			width, height, _ = term.GetSize(int(os.Stdout.Fd()))
			return width, height
		}
		a.width, _ = a.size()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(a.run(ctx, os.Args[1:]))
}

// run executes one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	a.out, a.err = renamed{a.out, &a.buckets}, renamed{a.err, &a.buckets}
	defer a.buckets.close()
	root := a.root()
	a.reachBuckets(root)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return a.exit(ctx, cmd, err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "reprise",
		Short: "why was the tail slow, and is the candidate better?",
		Long: `reprise reads production logs of LLM gateways and engines, says why the tail was slow,
and replays the same traffic against a candidate to prove whether it is better.`,
		Example: `  reprise analyze gateway.jsonl.gz --slo 'ttft<=1s,tpot<=60ms@99%'   # after an incident
  reprise ingest logs/ -o run                                       # keep it as Parquet
  reprise replay run --target http://127.0.0.1:8000/v1 -o candidate # same traffic, new target
  reprise compare base candidate                                    # is it better?`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,

		DisableSuggestions: true, // the hint has them
	}
	root.SetVersionTemplate("reprise {{.Version}}\n")
	root.PersistentPreRun = func(*cobra.Command, []string) { a.running = true }
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no talk on stderr, only results")
	root.PersistentFlags().StringVar(&a.buckets.size, "cache-size", "20GB", "disk that copies of what is read from buckets (s3://) may take")
	a.limits.add(root)
	root.AddCommand(a.commands()...)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	complete(root)
	return root
}

// helpTemplate puts the examples first: they are what most people look for.
const helpTemplate = `{{with or .Long .Short}}{{.}}{{end}}
{{if .HasExample}}
Examples:
{{.Example}}
{{end}}
{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}
Exit codes: 0 done, 1 error, 2 usage, 3 gate failed, 4 input incomplete or too many lines refused, 130 interrupted
`

// usageTemplate is cobra's without the examples, which the help has shown already.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Global flags:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
`

// version is the module version or the commit that the Go tool stamped into the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v, dirty := info.Main.Version, ""
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = s.Value[:min(12, len(s.Value))]
		}
		if s.Key == "vcs.modified" && s.Value == "true" {
			dirty = " (modified)"
		}
	}
	return v + dirty + " " + info.GoVersion
}
