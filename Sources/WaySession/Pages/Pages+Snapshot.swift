import Logging
import WayNavigation
import WayTransport
import WayValues

extension Pages {
  /// Returns the stored form of a page; `nil` if the page is not on the stack.
  func record(of id: String) -> OpenPageRecord? { self[id].map(OpenPageRecord.init) }

  /// Restores the pages that were on the stack before a restart. Pages of Swift code belong to the
  /// previous server, so they have to end. The loggers of their callers extend `logger`.
  mutating func restore(
    _ record: StackRecord, _ records: [String: OpenPageRecord], in session: String,
    _ logger: Logger?
  ) throws(RecordDecodingError) {
    let restored = try record.stack(of: records)
    for page in restored.allPages {
      guard let record = records[page.id] else { continue }
      let charge: ByteBudget.Charge
      do { charge = try self.charge(page) } catch {
        throw RecordDecodingError("the page \(page.id.quoted) exceeds the limits: \(error.message)")
      }
      restore(
        page, at: .client(record.presenter ?? 0), by: record.caller.caller(in: session, logger),
        record.chosen?.chosenHost, opener: record.opener, charge)
    }
    restore(restored)
  }
}
