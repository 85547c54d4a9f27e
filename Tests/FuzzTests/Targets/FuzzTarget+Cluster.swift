import Dispatch
import Synchronization
import WayRPC
import WayRouting
import WayTransport
import WayValues

@testable import WaySession
@testable import WaybridgeCluster

extension FuzzTarget {
  /// Messages of other servers: one that is read is written in one way, and is read again as the same.
  static let clusterMessages = FuzzTarget("cluster-messages") { bytes throws(FuzzFailure) in
    guard let envelope = try? ClusterEnvelope(bytes) else { return }
    let written = ClusterEnvelope.bytes(
      from: envelope.sender, envelope.number, envelope.message.bytes)
    guard let again = try? ClusterEnvelope(written) else {
      throw FuzzFailure("written again it cannot be read")
    }
    try FuzzFailure.unless(
      again.sender == envelope.sender && again.number == envelope.number, "its sender has changed")
    try FuzzFailure.unless(
      again.message.bytes == envelope.message.bytes, "written again it is \(again.message)")
    var table = PeerTable()
    _ = table.receive(envelope.number, from: envelope.sender, at: 1)
    if case .presence(let presence) = envelope.message, let presence = presence.object {
      _ = table.receivePresence(presence, from: envelope.sender, at: 1)
    }
    if case .fragment(let bytes, _) = envelope.message {
      _ = table.addFragment(bytes, from: envelope.sender)
    }
    let next = table.nextMessageNumber(to: envelope.sender, at: 2)
    try FuzzFailure.unless(next == 1, "the first message to a server has the number \(next)")
    _ = table.successor(at: 2)
  }

  /// Messages of session logs, each with its length in two bytes before it: one that is read is written
  /// as it was, and the state that they make has read the parts of no unreadable log.
  static let sessionLogs = FuzzTarget("session-logs") { bytes throws(FuzzFailure) in
    var state = JetStreamSessionLogState(
      of: UTF8Key("s"), on: "s", JetStreamSessionLogCipher(nil), includesParts: true)
    var summary = JetStreamSessionLogState(
      of: UTF8Key("s"), on: "s", JetStreamSessionLogCipher(nil), includesParts: false)
    var number: UInt64 = 0
    for message in bytes.lengthPrefixedParts {
      number += 1
      if let entry = try? JetStreamSessionLogEntry(message) {
        try FuzzFailure.unless(entry.bytes == message, "an entry is written as other bytes")
        if let steps = try? JetStreamSessionLogEntry.decodeSteps(Array(entry.body)) {
          let change = SessionChange(
            session: "s", lease: entry.lease, steps: steps, isEnd: entry.isEnd,
            isRelease: entry.isRelease)
          let written = JetStreamSessionLogEntry.messages(of: change, limit: 1 << 20)
          let body = written.first.flatMap { try? JetStreamSessionLogEntry($0) }?.body
          try FuzzFailure.unless(body == entry.body, "the steps are written as other bytes")
        }
      }
      state.add(message, number, after: number - 1)
      summary.add(message, number, after: number - 1)
    }
    try FuzzFailure.unless(
      summary.unreadableReason != nil || state.unreadableReason != nil
        || state.hasEnded == summary.hasEnded && state.lease == summary.lease,
      "the summary differs from the session")
    guard let names = NATSClusterNames("waybridge") else {
      throw FuzzFailure("waybridge is no name of a cluster")
    }
    let subject = names.sessionSubject(of: bytes.text)
    try FuzzFailure.unless(
      names.session(ofSubject: subject) == bytes.text,
      "the subject \(subject) names another session")
    _ = names.session(ofSubject: bytes.text)
  }

  /// Stored sessions, as a JSON object of their parts: each is restored, or reported as unreadable.
  static let storedSessions = FuzzTarget("stored-sessions") { bytes throws(FuzzFailure) in
    let document = try? JSON.parse(bytes.span.bytes, maxDepth: JSON.maxStoredDepth)
    guard let members = document?.object?.members else { return }
    var parts: [String: [UInt8]] = [:]
    for member in members {
      // A frame is text; any other part is an object.
      parts[member.name] = Array((member.value.string ?? (try? JSON.text(member.value)) ?? "").utf8)
    }
    let result = RestoredSession(parts)
    try FuzzFailure.unless(
      result.isReported || result.isEmpty, "the session is neither restored nor reported")
  }
}

extension [UInt8] {
  /// The parts of an input that consists of a length in two bytes and that many bytes, repeatedly. The
  /// last part may be shorter.
  fileprivate var lengthPrefixedParts: [[UInt8]] {
    var parts: [[UInt8]] = []
    var rest = self[...]
    while rest.count >= 2 {
      let count = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
      parts.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return parts
  }
}

/// A server in memory to which one stored session was handed.
private struct RestoredSession {
  /// Whether the server has reported the session as restored or unreadable.
  let isReported: Bool
  /// Whether the server has no session: one without clients ends at once.
  let isEmpty: Bool

  init(_ parts: [String: [UInt8]]) {
    let loop = MemoryLoop()
    var configuration = SessionServerConfiguration(
      router: Router(), now: { 1_750_000_000_000 })
    configuration.sessions.store = MemorySessionStore()
    let report = RestoreReport()
    configuration.eventSink.emit = { _, event, _ in
      switch event {
      case .restored, .unreadable: report.isMade.withLock { $0 = true }
      default: break
      }
    }
    let server = SessionServer(configuration)
    let sessions = server.dispatch.makeLoopSessions(on: loop)
    let stored = StoredSession(id: "s-1", lease: SessionLease(owner: "a", term: 2), parts: parts)
    let isDone = DispatchSemaphore(value: 0)
    loop.execute {
      sessions.assumeIsolated { sessions in
        sessions.restore(stored)
        report.isEmpty.withLock { $0 = sessions.sessions.count == 0 }
        sessions.forEachSessionAtOnce { session in session.assumeIsolated { $0.end() } }
      }
      isDone.signal()
    }
    isDone.wait()
    self.isReported = report.isMade.withLock { $0 }
    self.isEmpty = report.isEmpty.withLock { $0 }
  }
}

/// The report of a server about a stored session.
private final class RestoreReport: Sendable {
  let isMade = Mutex(false)
  let isEmpty = Mutex(true)
}
