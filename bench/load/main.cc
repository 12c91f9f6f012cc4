#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>

#include "load/check.h"
#include "load/cluster.h"
#include "load/echo_process.h"
#include "load/workloads.h"
#include "rt/runtime.h"

namespace {

using namespace strom;
using bench::JsonLine;

int Fail(const Error& error) {
  std::fprintf(stderr, "strom_bench_load: %s\n", error.message.c_str());
  return 1;
}

rt::Task<int> PrintLine(rt::Task<Result<JsonLine>> work) {
  const Result<JsonLine> line = co_await std::move(work);
  if (!line.ok()) co_return Fail(line.error());
  std::printf("%s\n", line->ToString().c_str());
  co_return 0;
}

/// Runs one workload on a runtime of one shard and prints its line.
int RunOnShard(std::function<rt::Task<Result<JsonLine>>()> work) {
  auto runtime = rt::Runtime::Start({.shards = 1, .blocking_threads = 1});
  if (!runtime.ok()) return Fail(runtime.error());
  return (*runtime)->Run([&work] { return PrintLine(work()); });
}

struct Arguments {
  std::string bootstrap = "127.0.0.1:9123";
  bench::LoadOptions load;
};

void AddCommon(CLI::App* command, Arguments* arguments) {
  arguments->load.table = "load_" + std::to_string(::getpid());
  command->add_option("--bootstrap", arguments->bootstrap, "HOST:PORT of the coordinator")->capture_default_str();
  command->add_option("--table", arguments->load.table, "name of the table that is made in the database \"bench\"");
  command->add_option("--buckets", arguments->load.buckets)->capture_default_str();
  command->add_option("--batch-rows", arguments->load.batch.rows, "rows of a batch")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--row-bytes", arguments->load.batch.row_bytes, "bytes of data in a row")->capture_default_str();
  command->add_flag("!--uncompressed", arguments->load.batch.compressed, "batches without zstd");
  command->add_option("--server-pids", arguments->load.server_processes, "processes whose CPU is counted")->delimiter(',');
}

int RunTailWithEcho(const bench::TailOptions& options) {
  auto echo = bench::EchoProcess::Start();
  if (!echo.ok()) return Fail(echo.error());
  return RunOnShard([&] { return bench::RunTail(options, rt::Address("127.0.0.1", (*echo)->port())); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("strom_bench_load: a lean load generator for log tables; one JSON line a run");
  app.require_subcommand(1);
  Arguments arguments;
  bench::AppendOptions append;
  bench::ScanOptions scan;
  bench::TailOptions tail;
  bench::FirstAckOptions first;
  bench::RestartOptions restart;
  std::string server;

  CLI::App* append_command = app.add_subcommand("append", "append prebuilt batches");
  AddCommon(append_command, &arguments);
  append_command->add_option("--rows", append.rows)->capture_default_str();
  append_command->add_option("--producers", append.producers, "connections")->capture_default_str()->check(CLI::PositiveNumber);
  append_command->add_option("--in-flight", append.in_flight, "requests in flight of a producer, unpaced")->capture_default_str();
  append_command->add_option("--rate", append.rows_per_second, "rows a second by a fixed clock; 0: unpaced")->capture_default_str();

  CLI::App* scan_command = app.add_subcommand("scan", "write a table, then read it whole");
  AddCommon(scan_command, &arguments);
  scan_command->add_option("--rows", scan.rows)->capture_default_str();
  scan_command->add_option("--repeat", scan.repeat)->capture_default_str();
  scan_command->add_option("--columns", scan.columns, "positions of the columns read; default: all")->delimiter(',');

  CLI::App* tail_command = app.add_subcommand("tail", "append at a fixed rate and read the tail, beside a loopback echo");
  AddCommon(tail_command, &arguments);
  tail_command->add_option("--rate", tail.appends_per_second, "appends of --batch-rows a second")->capture_default_str()->check(CLI::PositiveNumber);
  tail_command->add_option("--seconds", tail.seconds)->capture_default_str();
  tail_command->add_option("--warmup-seconds", tail.warmup_seconds)->capture_default_str();

  CLI::App* first_command = app.add_subcommand("first-ack", "start a server on nothing and time its first acknowledged append");
  AddCommon(first_command, &arguments);
  first_command->add_option("--exec", first.command, "starts the server at --bootstrap; {dir} stands for a fresh directory")->required();
  first_command->add_option("--repeat", first.repeat)->capture_default_str()->check(CLI::PositiveNumber);

  CLI::App* restart_command = app.add_subcommand("restart", "start a server, write a log, end it, and time until every bucket answers right again");
  AddCommon(restart_command, &arguments);
  restart_command->add_option("--exec", restart.command, "starts the server at --bootstrap; {dir} stands for a fresh directory")->required();
  restart_command->add_option("--log-bytes", restart.log_bytes, "of all buckets together")->capture_default_str();
  restart_command->add_option("--repeat", restart.repeat)->capture_default_str()->check(CLI::PositiveNumber);
  restart_command->add_flag("--kill", restart.kill, "end it by SIGKILL, not by SIGTERM");

  CLI::App* check_command = app.add_subcommand("check", "run each workload once, tiny, against a server of its own");
  check_command->add_option("--server", server, "the strom binary")->required();

  CLI11_PARSE(app, argc, argv);
  if (check_command->parsed()) return bench::RunCheck(server, argv[0]);
  const auto address = bench::ParseBootstrap(arguments.bootstrap);
  if (!address.ok()) return Fail(address.error());
  arguments.load.bootstrap = *address;
  append.load = scan.load = tail.load = first.load = restart.load = arguments.load;
  if (append_command->parsed()) return RunOnShard([&] { return bench::RunAppend(append); });
  if (scan_command->parsed()) return RunOnShard([&] { return bench::RunScan(scan); });
  if (tail_command->parsed()) return RunTailWithEcho(tail);
  if (restart_command->parsed()) return RunOnShard([&] { return bench::RunRestart(restart); });
  return RunOnShard([&] { return bench::RunFirstAck(first); });
}
