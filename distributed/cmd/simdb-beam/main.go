// Command simdb-beam runs simdb dedup, pairs, clusters and load on the engines that Apache Beam
// supports. The workers run the same program: see the Beam documentation on environments.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// The runners (universal is any runner with a job server), and the file system of local names.
	// Beam itself includes the package for gs://.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"github.com/simdb/simdb/cmd/simdb/flags"
	"github.com/simdb/simdb/dedup/shard"
	"github.com/simdb/simdb/distributed"
	"github.com/simdb/simdb/records/inputs"
)

const usage = `Usage: simdb-beam COMMAND [flags] PATTERN... -o DIR/

Run a command of simdb on an engine: dedup, pairs, clusters or build, with the flags of simdb dedup,
which simdb dedup --help explains. A pattern such as 'crawl/*.jsonl.gz' names files. All workers must
reach the files and DIR/, in shared folders or under gs://.

  --work=FOLDER                Folder for working files, which all workers reach (default: a temporary
                               one, with --runner prism)
  --shards=N                   Number of shards of whole files (default: one per file)
  --groups=N                   Number of groups in which documents are compared (default: one for every 16,384)
  --log=LEVEL                  Messages of the engine: debug, info, warn or error (default: none)

Flags of Apache Beam:
  --runner=NAME                prism, which is in this process (default), flink, spark, or universal
  --endpoint=HOST:PORT         Job server
  --environment_type=TYPE      Kind of workers: LOOPBACK, EXTERNAL, PROCESS or DOCKER
  --environment_config=CONFIG  Where they are: HOST:PORT (EXTERNAL), an image (DOCKER)
  --worker_binary=FILE         This program for the platform of the workers
  --parallelism=N, --job_name=NAME, --experiments=NAME,..., --resource_hints=HINT,
  --sdk_harness_container_image_override=FROM,TO

The exit status is 0, 2 after an error or if a record was rejected, or 130 if interrupted. A job that is
interrupted here continues on its job server, but publishes nothing.
`

// The flags of this program; Beam's flags are flags of the process, too.
var (
	work   = flag.String("work", "", "")
	shards = flag.Int("shards", 0, "")
	groups = flag.Int("groups", 0, "")
	level  = flag.String("log", "", "")
)

// known lists the flags that do not belong to simdb dedup.
var known = []string{
	"work", "shards", "groups", "log", "runner", "endpoint", "environment_type", "environment_config", "worker_binary",
	"parallelism", "job_name", "experiments", "resource_hints", "sdk_harness_container_image_override",
}

func main() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "--worker=") { // by Beam's boot program
		flag.Parse()
		beam.Init() // does not return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status, err := run(ctx, os.Args[1:])
	if err != nil {
		status = 2
		fmt.Fprintln(os.Stderr, "simdb-beam:", err)
		if ctx.Err() != nil {
			status = 130
		}
	}
	stop()
	os.Exit(status)
}

// run is the program in the process that submits the job.
func run(ctx context.Context, args []string) (status int, err error) {
	args, err = parse(args)
	if err != nil {
		return 0, err
	}
	if len(args) == 0 || slices.ContainsFunc(args, func(arg string) bool { return arg == "-h" || arg == "--help" }) {
		_, err := fmt.Print(usage)
		return 0, err
	}
	if err := setLog(); err != nil {
		return 0, err
	}
	switch *runners.Runner {
	case "":
		*runners.Runner = "prism"
	case "prism", "flink", "spark", "universal":
	default:
		return 0, fmt.Errorf("--runner %s: use prism, flink, spark or universal", *runners.Runner)
	}
	switch {
	case *work != "":
	case *runners.Runner == "prism":
		*work = os.TempDir()
	default:
		return 0, errors.New("--work is missing: name a folder that all workers can reach")
	}
	*work = fmt.Sprintf("%s/simdb-%016x", strings.TrimSuffix(*work, "/"), rand.Uint64())
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	o := distributed.Options{Files: distributed.Files{Dir: dir}}
	if o.Options, err = flags.Shard(args); err != nil {
		return 0, err
	}
	o.Work, o.Shards, o.Groups = *work, *shards, *groups
	if o.Options, err = shard.Plan(ctx, o.Options, o.Files); err != nil {
		return 0, err
	}
	job, err := shard.New(o.Options, o.Files)
	if err != nil {
		return 0, err
	}
	options, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(*work) // has no effect on an object store
	if err := distributed.Run(ctx, *runners.Runner, options); err != nil {
		return 0, err
	}
	said, err := job.Finish(ctx)
	if said != "" {
		fmt.Fprintln(os.Stderr, said)
	}
	if errors.Is(err, inputs.ErrRejected) {
		return 2, nil
	}
	return 0, err
}

// parse sets the flags that do not belong to simdb dedup, and returns the other arguments.
func parse(args []string) (rest []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !strings.HasPrefix(args[i], "--") || !slices.Contains(known, name) {
			rest = append(rest, args[i])
			continue
		}
		if !given {
			if i++; i == len(args) {
				return nil, fmt.Errorf("--%s: a value is missing", name)
			}
			value = args[i]
		}
		if err := flag.Set(name, value); err != nil {
			return nil, fmt.Errorf("--%s %s: %w", name, value, err)
		}
	}
	return rest, nil
}

// setLog selects the messages of Beam to show: it logs a failure several times.
func setLog() error {
	beam.Init()
	shown := slog.LevelError + 1
	if *level != "" {
		if err := shown.UnmarshalText([]byte(*level)); err != nil {
			return fmt.Errorf("--log %s: %w", *level, err)
		}
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: shown})))
	return nil
}
