import CWayNATS
import TestSupport
import Testing

@testable import WaybridgeCluster

struct NATSOptionsTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func configuration(hasCredentials: Bool) throws -> NATSClusterConfiguration {
    var settings = NATSClusterSettings(url: "nats://127.0.0.1")
    if hasCredentials {
      try folder.write(Array("credentials".utf8), to: "user.creds")
      settings.credentialsFile = folder.path("user.creds")
    }
    return try NATSClusterConfiguration(settings)
  }

  /// Returns the result of a connection that ends with each status in turn, and the number of attempts.
  private func connect(
    hasCredentials: Bool = true, _ statuses: natsStatus...
  ) throws -> (status: natsStatus, attempts: Int) {
    var attempts = 0
    let status = NATSOptions.connect(try configuration(hasCredentials: hasCredentials)) {
      attempts += 1
      return statuses[min(attempts, statuses.count) - 1]
    }
    return (status, attempts)
  }

  @Test func rejectedSignatureIsTriedAgain() throws {
    let accepted = try connect(NATS_OK)
    #expect(accepted.status == NATS_OK && accepted.attempts == 1)
    let acceptedLater = try connect(NATS_CONNECTION_AUTH_FAILED, NATS_OK)
    #expect(acceptedLater.status == NATS_OK && acceptedLater.attempts == 2)
    let rejected = try connect(NATS_CONNECTION_AUTH_FAILED)
    #expect(rejected.status == NATS_CONNECTION_AUTH_FAILED && rejected.attempts == 4)
  }

  @Test func otherFailuresAreNotTriedAgain() throws {
    let failed = try connect(NATS_NO_SERVER, NATS_OK)
    #expect(failed.status == NATS_NO_SERVER && failed.attempts == 1)
    let withUser = try connect(hasCredentials: false, NATS_CONNECTION_AUTH_FAILED, NATS_OK)
    #expect(withUser.status == NATS_CONNECTION_AUTH_FAILED && withUser.attempts == 1)
  }
}
