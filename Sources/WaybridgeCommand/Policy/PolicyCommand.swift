import ArgumentParser
import Waybridge

struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Check a policy, and test which calls it allows",
    discussion: """
      Example: waybridge policy check policy.json
      Example: waybridge policy test policy.json cases.json --table routes.json

      A policy defines which origins and hosts are accepted, and which calls are allowed. \
      protocol/ADMINISTRATION.md describes the document.

      Exit code: 0 if nothing is wrong; 1 if something is wrong; 64 if the command line is wrong.
      """,
    subcommands: [PolicyCheckCommand.self, PolicyTestCommand.self])
}

struct PolicyCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "List all errors of a policy",
    discussion: """
      Example: waybridge policy check policy.json
      Example: waybridge policy check /etc/waybridge/policy.json && systemctl reload waybridge

      The command prints "ok: N rules", or every error on standard error, one a line, with its place \
      in the document and the solution. Lines on standard error that begin with "warning:" report what \
      is valid but probably a mistake: a denial in a scheme whose other URIs are allowed.

      Exit code: 0 if the policy is valid; 1 if it is invalid or cannot be read; 64 if the command \
      line is wrong.
      """)

  @Argument(help: "Policy, a JSON file", completion: .json)
  var file: String

  func run() throws {
    let policy = try CommandJSONLocations.locating(inFile: file) { try Policy(file: file) }
    let count = policy.rules?.count ?? 0
    for warning in policy.warnings { Output.printError("warning: \(warning)") }
    var output = Output()
    try output.appendLine("ok: \(counted(count, "rule"))")
    try output.flush()
  }
}

struct PolicyTestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Test which calls a policy allows, and which rules deny others",
    discussion: """
      Example: waybridge policy test policy.json cases.json
      Example: waybridge policy test policy.json cases.json --table routes.json

      CASES is a JSON array of rows, or one row a line (empty lines are ignored): {"origin"?, \
      "token"?: {"sub"?, "groups"?}, "method", "uri"?, "scheme"?, "server"?, "expect"}. "expect" is \
      "allow", the name of the rule that denies the call, "default" or "permissions". "uri" is for \
      methods about a route. "scheme" and "server" are for host.register: "server" is true for a \
      server-wide host, and without "scheme" the case is about a host of every scheme.

      Without --table only those routes of rules apply that are patterns. With it names of routes \
      apply too, the permissions of routes are checked, and redirects are followed.

      The command prints a line for each row with another decision: its number (from 1), the expected \
      and the actual decision. The last line has the counts.

      Exit code: 0 if every decision is as expected; 1 if one differs, or a file cannot be read; 64 \
      if the command line is wrong.
      """)

  @Argument(help: "Policy, a JSON file", completion: .json)
  var file: String

  @Argument(
    help: "Cases, at most 1 MiB; - reads them from standard input", completion: .json)
  var cases: String

  @Option(
    help: ArgumentHelp("Route table, a JSON file", valueName: "file"), completion: .json)
  var table: String?

  func run() throws {
    let policy = try CommandJSONLocations.locating(inFile: file) { try Policy(file: file) }
    let router = Router()
    if let table {
      try CommandJSONLocations.locating(inFile: table) { try router.load(tableAt: table) }
    }
    let simulator = try PolicySimulator(policy, router)
    let rows = try PolicyCaseFile.read(cases, simulator.decisionNames)
    var output = Output()
    var differing = 0
    for (index, row) in rows.enumerated() {
      let decision: String
      do {
        decision = try simulator.decision(on: row)
      } catch {
        throw CommandError("row \(index + 1) of the cases cannot be tested: \(error.message)")
      }
      if decision == row.expected { continue }
      differing += 1
      try output.appendLine(
        "row \(index + 1): expected \(quoted(row.expected)), got \(quoted(decision)) (\(row.callDescription.brief))"
      )
    }
    try output.appendLine("\(counted(rows.count, "row")): \(differing) not as expected")
    try output.flush()
    if differing > 0 { throw ExitCode.failure }
  }
}

/// A number with the noun that it counts.
func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}
