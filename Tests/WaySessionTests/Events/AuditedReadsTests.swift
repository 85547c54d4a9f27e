import Testing
import WayValues

@testable import WaySession

struct AuditedReadsTests {
  private static let hour = AuditedReads.windowLength

  private func read(_ target: String, code: Int? = nil, by user: String = "root")
    -> AuditedReads.Read
  {
    AuditedReads.Read(
      client: AuditedClient(EventClient(user: user)), network: nil, method: "admin.session",
      target: UTF8Key(target), code: code)
  }

  private func texts(_ reports: [AuditedReads.SuppressedReads]) -> [String] {
    reports.map { "\($0.read.target?.text ?? "-") \($0.count)" }.sorted()
  }

  @Test func theFirstReadOfAClientATargetAndAResultIsRecorded() {
    var reads = AuditedReads()
    #expect(reads.decide(read("a"), at: 0).isRecorded)
    #expect(!reads.decide(read("a"), at: 1).isRecorded)
    #expect(reads.decide(read("b"), at: 1).isRecorded)
    #expect(reads.decide(read("a", code: 2404), at: 1).isRecorded)
    #expect(reads.decide(read("a", by: "other"), at: 1).isRecorded)
  }

  @Test func continuedReadsAreReportedOnceAnHour() {
    var reads = AuditedReads()
    _ = reads.decide(read("a"), at: 0)
    #expect(reads.nextReport == nil)
    for time in 1...3 { #expect(!reads.decide(read("a"), at: Int64(time)).isRecorded) }
    #expect(reads.nextReport == Self.hour)
    #expect(texts(reads.report(at: Self.hour - 1)) == [])
    #expect(texts(reads.report(at: Self.hour)) == ["a 3"])
    // The report is the record of the second hour.
    #expect(!reads.decide(read("a"), at: Self.hour + 1).isRecorded)
    #expect(texts(reads.report(at: 2 * Self.hour - 1)) == [])
    #expect(texts(reads.report(at: 2 * Self.hour)) == ["a 1"])
    #expect(texts(reads.report(at: 3 * Self.hour)) == [])
    #expect(reads.decide(read("a"), at: 3 * Self.hour).isRecorded)
  }

  @Test func aReadAfterAnHourIsRecorded() {
    var reads = AuditedReads()
    _ = reads.decide(read("a"), at: 0)
    #expect(reads.decide(read("a"), at: Self.hour).isRecorded)
    // The clock was set back.
    #expect(reads.decide(read("a"), at: 5).isRecorded)
  }

  @Test func aReportThatIsLateCountsAllReads() {
    var reads = AuditedReads()
    for time in [0, 1, Self.hour + 1] { _ = reads.decide(read("a"), at: time) }
    #expect(texts(reads.removeAll()) == ["a 2"])
    #expect(texts(reads.removeAll()) == [])
  }

  @Test func beyondTheMaximumTheOldestReadIsForgottenAndItsCountReported() {
    var reads = AuditedReads()
    for number in 0..<AuditedReads.maxReads {
      _ = reads.decide(read("\(number)"), at: Int64(number))
    }
    _ = reads.decide(read("0"), at: 5_000)
    let (isRecorded, forgotten) = reads.decide(read("new"), at: 5_000)
    #expect(isRecorded)
    #expect(texts(forgotten.map { [$0] } ?? []) == ["0 1"])
    #expect(!reads.decide(read("1"), at: 5_000).isRecorded)
    #expect(reads.decide(read("0"), at: 5_000).isRecorded)
    #expect(reads.decide(read("1"), at: 5_000).isRecorded)
  }
}
