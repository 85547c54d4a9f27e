import Foundation
import Synchronization
import Testing
import WayDownload

@testable import WayWebhook

@Suite(.timeLimit(.minutes(1)))
struct WebhookTests {
  /// The receiver of a test: gives prepared responses, and records requests and pauses.
  private final class Receiver: Sendable {
    struct Recording {
      var responses: [Result<Int, DownloadError>]
      var headers: [[String]] = []
      var pauses: [Duration] = []
      var time: Int64 = 1_700_000_000
    }

    private let state: Mutex<Recording>

    init(_ responses: [Result<Int, DownloadError>]) {
      state = Mutex(Recording(responses: responses))
    }

    var recording: Recording { state.withLock { $0 } }

    func webhook(_ secrets: WebhookSecrets, random: Double = 1) -> Webhook {
      Webhook(
        secrets, now: { self.state.withLock { $0.time } },
        pause: { pause in
          self.state.withLock { state in
            state.pauses.append(pause)
            state.time += pause.components.seconds
          }
        },
        random: { random },
        send: { (_, headers) async throws(DownloadError) -> Int in
          let response = self.state.withLock { state in
            state.headers.append(headers)
            return state.responses.isEmpty ? .success(500) : state.responses.removeFirst()
          }
          return try response.get()
        })
    }
  }

  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  /// The example of the Standard Webhooks specification's libraries.
  @Test func signsAsTheSpecificationDoes() throws {
    let secrets = try WebhookSecrets(Self.secret + "\n")
    let body = Array(#"{"test": 2432232314}"#.utf8)
    #expect(
      secrets.signature(ofMessage: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: 1_614_265_330, body)
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test func eachSecretSigns() throws {
    let other = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
    func signature(_ text: String) throws -> String? {
      try WebhookSecrets(text).signature(ofMessage: "m", at: 1, [])
    }
    let both = try #require(try signature("\(Self.secret)\n\(other)\n"))
    #expect(
      both.split(separator: " ").map(String.init)
        == [try signature(Self.secret), try signature(other)])
  }

  @Test(arguments: [
    "", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_!!!!", "whsec_c2hvcnQ=",
    String(repeating: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", count: 5),
  ])
  func rejectsOtherSecrets(text: String) {
    #expect(throws: WebhookSecretError.self) { try WebhookSecrets(text) }
  }

  @Test func triesAgainWithTheSameIdentifierAndANewTime() async throws {
    let receiver = Receiver([
      .success(500), .failure(DownloadError(reason: "is down")), .success(429), .success(302),
      .success(204),
    ])
    try await receiver.webhook(try WebhookSecrets(Self.secret)).deliver("msg_1", [1])
    let recording = receiver.recording
    #expect(recording.pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    #expect(recording.headers.map { $0[0] } == Array(repeating: "webhook-id: msg_1", count: 5))
    let times = recording.headers.map { $0[1] }
    #expect(Set(times).count == 5)
    #expect(times.last == "webhook-timestamp: 1700000015")
    #expect(Set(recording.headers.map { $0[2] }).count == 5)
  }

  @Test(arguments: [(400, 1), (401, 1), (410, 1), (408, 7), (503, 7), (301, 7)])
  func endsAfterARejectionOrTooManyAttempts(status: Int, attempts: Int) async throws {
    let receiver = Receiver(Array(repeating: .success(status), count: 9))
    let webhook = receiver.webhook(try WebhookSecrets(Self.secret), random: 0)
    await #expect(
      throws: WebhookError(reason: "has responded with \(status)", attempts: attempts)
    ) {
      try await webhook.deliver("msg_1", [])
    }
    #expect(receiver.recording.headers.count == attempts)
    #expect(receiver.recording.pauses.reduce(.zero, +) <= .seconds(64))
  }

  @Test(arguments: [0.0, 0.5, 1.0])
  func aPauseIsBetweenHalfOfAndAllOfItsTime(random: Double) {
    var retry = WebhookRetry()
    var longest = Duration.seconds(1)
    while case .wait(let time, _) = retry.next(after: .status(500), random: random) {
      #expect(time == longest * (0.5 + random / 2))
      longest *= 2
    }
    #expect(retry.attempts == WebhookRetry.maxAttempts)
  }
}
