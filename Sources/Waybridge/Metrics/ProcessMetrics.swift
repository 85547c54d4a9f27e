import FoundationEssentials
import Glibc

/// The usual process metrics of Prometheus clients, with the names that dashboards expect.
enum ProcessMetrics {
  static func families() -> [MetricFamily] {
    var families = [
      MetricFamily(
        "process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970.",
        value: startTime),
      MetricFamily(
        "process_cpu_seconds_total", .counter, "User and system processor time.",
        value: processorTime),
    ]
    for (name, help, value) in [
      ("process_resident_memory_bytes", "Resident memory.", residentBytes),
      ("process_virtual_memory_bytes", "Virtual memory.", pages(0)),
      ("process_open_fds", "Open file descriptors.", openDescriptors.map(Double.init)),
      (
        "process_max_fds", "Maximum number of open file descriptors.",
        ServerProcessDescriptors.limit.map(Double.init)
      ),
    ] {
      guard let value else { continue }
      families.append(MetricFamily(name, .gauge, help, value: value))
    }
    return families
  }

  /// proc(5): the 22nd field of /proc/self/stat, in clock ticks since the system's start. The
  /// second field is the program's name in parentheses, which may contain any character.
  private static let startTime: Double = {
    let fields = fileText("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = fields.count > 19 ? Double(fields[19]) ?? 0 : 0
    return seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME)
      + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }()

  /// clock_gettime
  private static var processorTime: Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

  static var residentBytes: Double? { pages(1) }

  /// proc(5): a field of /proc/self/statm, which counts pages, in bytes.
  private static func pages(_ field: Int) -> Double? {
    let fields = fileText("/proc/self/statm").split(separator: " ")
    guard fields.count > field, let pages = Double(fields[field]) else { return nil }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// proc(5): the entries of /proc/self/fd, without the one that is open to read them. Nil if no
  /// descriptor is left to read them.
  private static var openDescriptors: Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) {
      if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return max(count - 1, 0)
  }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func fileText(_ path: String) -> String {
    String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
  }
}
