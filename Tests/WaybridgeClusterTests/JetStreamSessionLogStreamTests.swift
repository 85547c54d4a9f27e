import TestSupport
import Testing
import WaySession
import WayValues

@testable import WaybridgeCluster

@Suite(.timeLimit(.minutes(1)))
struct JetStreamSessionLogStreamTests {
  private let natsServer: NATSServer
  private let stream: JetStreamSessionLogStream
  private let x = UTF8Key("x")
  private let y = UTF8Key("y y")

  init() throws {
    natsServer = try NATSServer()
    stream = try JetStreamSessionLogStream(NATSClusterConfiguration(url: natsServer.url))
  }

  /// Writes a lease to a session's log after a message; nil if another one is the last.
  private func write(_ term: Int64, _ session: UTF8Key, after: UInt64) throws -> UInt64? {
    let lease = SessionLease(owner: "a", term: term)
    let results = try stream.publish([stream.publication(of: lease, session, after: after)])
    guard case .stored(let number)? = results.first else { return nil }
    return number
  }

  @Test func eachSessionHasALogOfItsOwn() throws {
    let first = try #require(try write(1, x, after: 0))
    let other = try #require(try write(7, y, after: 0))
    #expect(try write(2, x, after: 0) == nil)
    let second = try #require(try write(2, x, after: first))
    let last = try #require(try stream.latestMessage(of: x))
    #expect(last.sequence == second)
    #expect(try stream.entry(in: last).lease == SessionLease(owner: "a", term: 2))
    #expect(try stream.latestMessage(of: y)?.sequence == other)
    #expect(try stream.latestMessage(of: UTF8Key("y")) == nil)
  }

  @Test func deletesMessagesOfOneSessionThroughANumber() throws {
    let first = try #require(try write(1, x, after: 0))
    let other = try #require(try write(1, y, after: 0))
    let second = try #require(try write(2, x, after: first))
    try stream.deleteMessages(of: x, through: first)
    #expect(try [first, second].map { try stream.isStored($0, of: x) } == [false, true])
    #expect(try stream.isStored(other, of: y) && !stream.isStored(other, of: x))
  }

  @Test func streamIsReplacedOnlyByAnother() throws {
    #expect(try !stream.isReplaced() && !stream.detectReplacement())
    // A second server uses the same stream.
    _ = try JetStreamSessionLogStream(NATSClusterConfiguration(url: natsServer.url))
    #expect(try !stream.isReplaced() && !stream.detectReplacement())
  }
}
