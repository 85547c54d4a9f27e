import WayRPC
import WayValues

/// The notifications of one call's progress. Their numbers always grow, as the protocol demands.
package struct MCPProgress: Sendable {
  private let token: RequestID
  /// The number of the last notification; `nil` before the first.
  private var last: Double?
  /// The step to the next notification if a value has no number.
  private static let step = 0.001

  /// Creates the notifications for a request's token.
  package init(_ token: RequestID) { self.token = token }

  private struct ProgressParams: Encodable {
    let progressToken: RequestID
    let progress: Value
    let total: Value?
    let message: String?
  }

  /// A number, without a fraction if it has none.
  private static func value(_ number: Double) -> Value {
    Int64(exactly: number).map(Value.integer) ?? Value(number)
  }

  /// What a host may report. Other values are passed on as the message.
  private struct ReportedProgress: Decodable {
    let progress: Double?
    let total: Double?
    let message: String?
  }

  private struct OpenedReport: Decodable {
    struct OpenedPageName: Decodable {
      let page: String
    }
    let opened: OpenedPageName
  }

  /// Returns the notification of a value that the call has reported; `nil` if it says nothing new.
  package mutating func notification(of value: Value) -> MCPMessage? {
    var report = ReportedProgress(progress: nil, total: nil, message: nil)
    if let number = value.double {
      report = ReportedProgress(progress: number, total: nil, message: nil)
    } else if (try? value.decode(as: OpenedReport.self)) != nil {
      report = ReportedProgress(
        progress: nil, total: nil, message: "The user's app shows the page")
    } else if let text = value.string {
      report = ReportedProgress(progress: nil, total: nil, message: text)
    } else if value.object != nil, let read = try? value.decode(as: ReportedProgress.self),
      read.progress != nil || read.message != nil
    {
      report = read
    } else {
      report = ReportedProgress(progress: nil, total: nil, message: value.brief)
    }
    return notification(of: report)
  }

  private mutating func notification(of report: ReportedProgress) -> MCPMessage? {
    let reported = report.progress.flatMap { $0.isFinite ? $0 : nil }
    let isNew = reported.map { number in last.map { $0 < number } ?? true } ?? false
    guard isNew || report.message != nil else { return nil }
    let next = isNew ? reported ?? 0 : last.map { $0 + Self.step } ?? 0
    // A step is lost in a number that is large enough.
    guard last.map({ $0 < next }) ?? true else { return nil }
    last = next
    return MCPMessage(
      "notifications/progress",
      ProgressParams(
        progressToken: token, progress: Self.value(next),
        total: report.total.flatMap { $0.isFinite ? Self.value($0) : nil },
        message: report.message))
  }
}
