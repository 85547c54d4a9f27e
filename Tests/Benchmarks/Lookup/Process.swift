import CMalloc
import Glibc

// The resources that this process has used.
enum Process {
  // Nanoseconds that the calling thread has run. On a shared machine this is steadier than the
  // elapsed time.
  static func nanoseconds() -> Double {
    var time = timespec()
    guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  // Resident memory in bytes (VmRSS), after freed memory was returned to the system.
  static func residentBytes() -> Double {
    malloc_trim(0)
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let fields = line.prefix { $0 != 0 }.split(separator: CChar(UInt8(ascii: " ")))
    guard fields.count > 1 else { return 0 }
    let pages = fields[1].reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
    return Double(pages * sysconf(Int32(_SC_PAGESIZE)))
  }
}
