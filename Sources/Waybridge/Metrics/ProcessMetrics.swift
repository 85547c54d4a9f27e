import FoundationEssentials
import Glibc

/// What every Prometheus client tells of its process, by the names that dashboards know.
enum ProcessMetrics {
  static func families() -> [MetricFamily] {
    var families = [
      MetricFamily(
        "process_start_time_seconds", .gauge, "Start of the process, since 1970.",
        value: startTime),
      MetricFamily(
        "process_cpu_seconds_total", .counter, "Time of processors, user and system.",
        value: processorTime),
    ]
    if let residentBytes {
      families.append(
        MetricFamily(
          "process_resident_memory_bytes", .gauge, "Resident memory.", value: residentBytes))
    }
    return families
  }

  /// proc(5): the 22nd field of /proc/self/stat, in clock ticks since the system's start. The
  /// second field is the program's name in parentheses, which may hold anything.
  private static let startTime: Double = {
    let fields = text("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = fields.count > 19 ? Double(fields[19]) ?? 0 : 0
    return seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME)
      + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }()

  /// clock_gettime
  private static var processorTime: Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

  /// proc(5): the second field of /proc/self/statm, in pages.
  static var residentBytes: Double? {
    let fields = text("/proc/self/statm").split(separator: " ")
    guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func text(_ path: String) -> String {
    String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
  }
}
