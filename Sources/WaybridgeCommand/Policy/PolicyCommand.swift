import ArgumentParser
import Waybridge

struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Check a policy, and test what it lets whom do.",
    discussion: """
      A policy says who comes in, and who may call what; protocol/PROTOCOL.md describes the document.

      Exit code: 0 where there is nothing wrong; 1 where there is; 64 where the command line is \
      wrong.

      Example: waybridge policy check policy.json
      """,
    subcommands: [PolicyCheck.self, PolicyTest.self])
}

struct PolicyCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Tell every fault of a policy.",
    discussion: """
      Prints "ok: N rules"; or else every fault on standard error, one a line, with its place in \
      the document and what to do.

      Exit code: 0 where the policy can be used; 1 where it cannot, or cannot be read; 64 where \
      the command line is wrong.

      Example: waybridge policy check policy.json
      """)

  @Argument(help: "The policy, a JSON document.", completion: .json)
  var file: String

  func run() throws {
    let count = try Policy(file: file).rules?.count ?? 0
    var output = Output()
    try output.line("ok: \(counted(count, "rule"))")
    try output.flush()
  }
}

struct PolicyTest: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Hold a policy against cases: who may call what, and which rule refuses the rest.",
    discussion: """
      CASES is a JSON array of rows, or one row a line (lines without text are passed over): \
      {"origin"?, "token"?: {"sub"?, "groups"?}, "method", "uri"?, "scheme"?, "server"?, "expect"}. \
      "expect" is "allow", or what refuses: the name of a rule, or else "default" or \
      "permissions". "uri" is for methods about a route, "scheme" and "server" (true for a host of \
      all sessions) are for host.register; without "scheme" it is about a host of every scheme.

      Without --table the routes of rules count where they are patterns. With it their names count \
      too, the permissions of routes are asked, and redirects are followed.

      Each row that differs is a line with its number (from 1), what was expected and what came \
      out; the last line counts.

      Exit code: 0 where every row is as expected; 1 where one differs, or something cannot be \
      read; 64 where the command line is wrong.

      Example: waybridge policy test policy.json cases.json --table routes.json
      """)

  @Argument(help: "The policy, a JSON document.", completion: .json)
  var file: String

  @Argument(
    help: "The cases, at most 1 MiB; - reads them from standard input.", completion: .json)
  var cases: String

  @Option(
    help: ArgumentHelp("The route table, a JSON document.", valueName: "file"), completion: .json)
  var table: String?

  func run() throws {
    let policy = try Policy(file: file)
    let router = Router()
    if let table { try router.load(tableAt: table) }
    let trial = try PolicyTrial(policy, router)
    let rows = try PolicyCaseFile.read(cases, trial.verdicts)
    var output = Output()
    var differing = 0
    for (index, row) in rows.enumerated() {
      let verdict: String
      do {
        verdict = try trial.verdict(on: row)
      } catch {
        throw CommandError("The cases cannot be tested: row \(index + 1): \(error.message)")
      }
      if verdict == row.expected { continue }
      differing += 1
      try output.line(
        "row \(index + 1): expected \(quoted(row.expected)), got \(quoted(verdict)) (\(row.call.brief))"
      )
    }
    try output.line("\(counted(rows.count, "row")): \(differing) not as expected")
    try output.flush()
    if differing > 0 { throw ExitCode.failure }
  }
}

/// A number with what it counts.
func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}
