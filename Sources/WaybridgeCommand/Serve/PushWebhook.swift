import Foundation
import Logging
import WayDownload
import WayWebhook
import Waybridge
import WaybridgeClient

/// The push service of `serve`: sends pushes for users that are away to a webhook.
struct PushWebhook: Sendable {
  /// The bytes of the params in a message; longer ones are left out.
  private static let maxParams = 8 << 10

  /// The body of a message.
  private struct WebhookMessage: Encodable {
    let type = "push.away"
    /// ISO 8601.
    let timestamp: String
    let data: PushData
  }

  private struct PushData: Encodable {
    let session: String?
    let user: String?
    let method: String
    let target: String
    let params: Value?
    /// True if the params are too long.
    let cut: Bool?
    let key: String?
    let waiting: Bool
  }

  private let webhook: Webhook
  private let url: String
  private let logger: Logger

  /// Creates the webhook of the settings. Returns `nil` if they have none.
  init?(_ settings: CommandSettings) throws(CommandError) {
    let url = settings.pushWebhookURL
    guard let file = settings.pushWebhookSecretFile else {
      guard url.isEmpty else {
        throw CommandError(
          "the secret that signs the messages of --push-webhook is missing; add "
            + "--push-webhook-secret-file")
      }
      return nil
    }
    guard !url.isEmpty else {
      throw CommandError("--push-webhook-secret-file has no effect without --push-webhook")
    }
    let secrets: WebhookSecrets
    do throws(FileError) {
      let bytes = try BoundedServerFile(file, limit: 4096, isPrivate: true).read().bytes
      do throws(WebhookSecretError) {
        secrets = try WebhookSecrets(String(decoding: bytes, as: UTF8.self))
      } catch {
        throw FileError(
          path: file,
          reason: error.reason + "; run: echo whsec_$(openssl rand -base64 32) > \(file)")
      }
    } catch {
      throw CommandError("the secret of --push-webhook: \(error)")
    }
    do throws(DownloadError) {
      webhook = try Webhook(
        url: url, secrets, userAgent: "waybridge/\(BridgeServer.version)",
        now: { Int64(Date().timeIntervalSince1970) })
    } catch {
      throw CommandError("--push-webhook \(quoted(url)) \(error.reason)")
    }
    self.url = url
    logger = settings.logger
  }

  /// Sends a push. Logs a failure, and does not throw.
  @Sendable func send(_ push: AwayPush) async {
    let params: Value? = push.params == .null || push.params == [:] ? nil : push.params
    let isCut = params.map { ($0.json?.utf8.count ?? .max) > Self.maxParams } ?? false
    let data = PushData(
      session: push.session, user: push.user, method: push.method, target: push.target,
      params: isCut ? nil : params, cut: isCut ? true : nil, key: push.key, waiting: push.isWaiting)
    let time = Date(timeIntervalSince1970: Double(push.at) / 1000)
    let message = WebhookMessage(timestamp: time.ISO8601Format(), data: data)
    guard let body = (try? ValueEncoder().encode(message))?.json else { return }
    do throws(WebhookError) {
      try await webhook.deliver("msg_" + UUID().uuidString.lowercased(), Array(body.utf8))
    } catch {
      logger.warning(
        "push not sent to the webhook",
        metadata: [
          "url": "\(url)", "method": "\(push.method)", "attempts": "\(error.attempts)",
          "reason": "\(error.reason)",
        ])
    }
  }
}
