#!/usr/bin/env bash
# Runs jobs on Apache Flink or Spark, in this machine, and compares what they write with what simdb
# dedup does. It says SKIPPED where a thing is missing: Java 11 or 17, Maven, or its libraries.
#
#	engine-test.sh flink|spark [FILE...]     inputs, JSON lines (default: the licences of examples/)
#
# Of Beam's job servers no whole archives are to be had for all versions: flink.xml and spark.xml name
# the libraries, which bring the engine along (some 150 and 250 MB, kept in $ENGINE_LIBS).
set -euo pipefail
cd "$(dirname "$0")"
engine=${1:?flink or spark}
shift
[[ -f $engine.xml ]] || { echo "unknown engine $engine"; exit 2; }
libs=${ENGINE_LIBS:-${XDG_CACHE_HOME:-$HOME/.cache}/simdb}/$engine-beam-2.62.0
port=18099
work=$(mktemp -d)
server= pool=
trap 'stop; rm -rf "$work"' EXIT

step() { printf '\n== %s (after %d s)\n' "$*" $SECONDS; }
skip() { echo "SKIPPED: $*"; exit 0; }
fail() { echo "FAILED: $*"; tail -n 30 "$work"/*.log; exit 1; }

stop() {
	for process in $server $pool; do
		kill "$process" 2>/dev/null && wait "$process" || true
	done
	server= pool=
}

# start VERSION: a job server, and a pool of workers, which are processes. With VERSION retry the
# engine runs again what a worker that dies has had, with VERSION fail it does not.
start() {
	stop
	local open=() driver=()
	for package in java.{io,lang,lang.invoke,lang.reflect,net,nio,time,util,util.concurrent,util.concurrent.atomic} \
		jdk.internal.ref sun.{nio.ch,nio.cs,security.action,util.calendar}; do
		open+=("--add-opens=java.base/$package=ALL-UNNAMED")
	done
	if [[ $engine == flink ]]; then
		mkdir -p "$work/fail" "$work/retry"
		: >"$work/fail/flink-conf.yaml"
		printf '%s\n' 'restart-strategy: fixed-delay' 'restart-strategy.fixed-delay.attempts: 4' \
			'restart-strategy.fixed-delay.delay: 1 s' >"$work/retry/flink-conf.yaml"
		driver=(org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master '[local]' --flink-conf-dir "$work/$1")
	else
		local master='local[2]' # the second number is how often a task may fail
		[[ $1 == retry ]] && master='local[2,4]'
		driver=(org.apache.beam.runners.spark.SparkJobServerDriver --spark-master-url "$master")
	fi
	"$java" -Xmx3g "${open[@]}" -cp "$libs/*" "${driver[@]}" --job-host localhost --job-port $port --artifact-port 0 \
		--expansion-port 0 --artifacts-dir "$work/artifacts" >"$work/server.log" 2>&1 &
	server=$!
	(cd "$work" && exec ./boot --worker_pool >pool.log 2>&1) & # it writes options to where it is
	pool=$!
	for _ in {1..120}; do
		(: <>/dev/tcp/localhost/$port) 2>/dev/null && return
		sleep 0.5
	done
	fail "the job server does not start"
}

beam=(--runner=universal --endpoint=localhost:$port --parallelism=2)
external=("${beam[@]}" --environment_type=EXTERNAL --environment_config=localhost:50000)

# job WORKER FLAGS: a job whose workers are processes.
job() {
	rm -rf "$work/out"
	"$work/simdb-beam" dedup "${inputs[@]}" -o "$work/out/" --work "$work/files" "${external[@]}" --worker_binary="$work/$1" "${@:2}"
}

# equal FLAGS: the outputs are those of simdb dedup with the same flags.
equal() {
	rm -rf "$work/want"
	"$work/simdb" dedup -q "${inputs[@]}" -o "$work/want/" "$@"
	diff -rq "$work/want" "$work/out" || fail "other outputs than simdb dedup $*"
	echo "EQUAL: $* ($(cat "$work/out"/*.jsonl | wc -l) lines)"
}

java=
for home in "${JAVA_HOME:-}" /usr/lib/jvm/*17* /usr/lib/jvm/*11*; do
	if [[ -z $java && -x $home/bin/java ]] && "$home/bin/java" -version 2>&1 | grep -qE 'version "(11|17)\.'; then
		java=$home/bin/java
	fi
done
[[ -n $java ]] || skip "no Java 11 or 17"
if [[ ! -d $libs ]]; then
	step "libraries of the job server"
	command -v mvn >/dev/null || skip "no Maven"
	mvn -B -q -f "$engine.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$libs.new" || skip "Maven cannot get the libraries"
	mv "$libs.new" "$libs"
fi

step build
(cd .. && go build -buildvcs=false -o "$work/" ./cmd/simdb-beam && go build -buildvcs=false -o "$work/boot" github.com/apache/beam/sdks/v2/go/container)
(cd .. && go test -c -o "$work/driver" . && go test -c -o "$work/dying" ./cmd/simdb-beam)
(cd ../.. && go build -buildvcs=false -o "$work/" ./cmd/simdb)
inputs=("$@")
if (($# == 0)); then
	gunzip -c ../../examples/licenses.jsonl.gz >"$work/licenses.jsonl"
	split -n l/5 -d --additional-suffix=.jsonl "$work/licenses.jsonl" "$work/part-"
	inputs=("$work"/part-*.jsonl)
fi

start fail
step "sums, failures and cancelled jobs, in this process"
"$work/driver" -test.run '^Test(Sums|Fail|Cancelled)$' "${beam[@]}" --environment_type=LOOPBACK >"$work/driver.log" 2>&1 || fail driver
for flags in '--jaccard 0.8' '--near 3' '--near 6'; do
	step "dedup $flags, in this process"
	rm -rf "$work/out"
	# shellcheck disable=SC2086 # flags are several words
	time "$work/simdb-beam" dedup "${inputs[@]}" -o "$work/out/" --work "$work/files" "${beam[@]}" --environment_type=LOOPBACK $flags
	# shellcheck disable=SC2086
	equal $flags
done

step "a worker is killed: without another attempt the job fails, and nothing is written"
"$work/driver" -test.run '^TestKilled$' -killed=fail "${external[@]}" --worker_binary="$work/driver" >"$work/driver.log" 2>&1 || fail driver
grep -q -- '--- SKIP' "$work/driver.log" && fail "the test of the driver was skipped"
export SIMDB_BEAM_KILL=link:$work/killed-1
start fail # the environment of the pool is that of its workers
if job dying; then
	fail "the job did not fail"
fi
[[ -e $work/killed-1 ]] || fail "no worker was killed"
[[ ! -e $work/out ]] || fail "there are outputs"

for kill in fingerprint link write; do
	step "a worker is killed in step $kill, which runs again"
	export SIMDB_BEAM_KILL=$kill:$work/killed-$kill
	start retry
	time job dying
	[[ -e $work/killed-$kill ]] || fail "no worker was killed"
	equal
done
echo "all passed after $SECONDS s"
