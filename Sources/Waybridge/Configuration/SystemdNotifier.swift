import FoundationEssentials
import Glibc
import WaySockets

/// Who has started the process and wants to hear from it: systemd, or whoever speaks as it does.
///
/// It may have handed over the socket to listen on (sd_listen_fds(3)), is told when the server
/// listens, reads its files anew and ends (sd_notify(3)), and may want a sign of life from time to
/// time (sd_watchdog_enabled(3)), which is given for as long as all event loops turn.
public struct SystemdNotifier: Sendable {
  /// The descriptor of the socket that was handed over; nil where there is none.
  public let listeningDescriptor: Int32?
  /// After how long a silence it takes the process for hung; nil where it does not watch.
  public let watchdog: Duration?
  private let notices: NotificationSocket?

  /// Reads what the environment says: `LISTEN_PID` and `LISTEN_FDS`, `NOTIFY_SOCKET`,
  /// `WATCHDOG_PID` and `WATCHDOG_USEC`. What is meant for another process is passed over. Nil where
  /// there is nothing for this one. Throws what is no number or address, and where more than one
  /// socket was handed over.
  public init?(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
    listeningDescriptor = try Self.listeningDescriptor(environment)
    let name = environment["NOTIFY_SOCKET"] ?? ""
    notices = name.isEmpty ? nil : try NotificationSocket(name)
    let isWatched = try notices != nil && Self.isMeant("WATCHDOG_PID", environment) != false
    let microseconds = isWatched ? try Self.number("WATCHDOG_USEC", environment) ?? 0 : 0
    watchdog = microseconds > 0 ? .microseconds(microseconds) : nil
    if listeningDescriptor == nil, notices == nil { return nil }
  }

  /// Whether it takes notices.
  var isNotified: Bool { notices != nil }

  private static func listeningDescriptor(_ environment: [String: String]) throws -> Int32? {
    guard try isMeant("LISTEN_PID", environment) == true,
      let count = try number("LISTEN_FDS", environment), count > 0
    else { return nil }
    guard count == 1 else {
      throw SocketError(
        .invalid,
        "\(count) sockets were handed over (LISTEN_FDS), and a server listens on one: start a "
          + "server for each")
    }
    // SD_LISTEN_FDS_START
    return 3
  }

  /// Whether a variable holds the number of this process; nil where there is none.
  private static func isMeant(_ name: String, _ environment: [String: String]) throws -> Bool? {
    try number(name, environment).map { $0 == Int(getpid()) }
  }

  private static func number(_ name: String, _ environment: [String: String]) throws -> Int? {
    guard let text = environment[name], !text.isEmpty else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw SocketError(
        .invalid, "the environment variable \(name) must be a number, not \(text.debugDescription)")
    }
    return number
  }
}

extension SystemdNotifier {
  /// What it is told.
  enum Notice {
    case listening(BoundAddress)
    /// What a reload was to do is done.
    case ready
    case reloading
    /// The longest that it may take.
    case stopping(within: Duration)
    case alive

    var text: String {
      switch self {
      case .listening(let address): "READY=1\nSTATUS=listening on \(address)"
      case .ready: "READY=1"
      case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.now)"
      case .stopping(let time):
        "STOPPING=1\nEXTEND_TIMEOUT_USEC=\(time.microseconds)\nSTATUS=draining"
      case .alive: "WATCHDOG=1"
      }
    }

    /// clock_gettime: microseconds of CLOCK_MONOTONIC.
    private static var now: Int {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
  }

  /// Tells it something, where it takes notices. Throws where that fails.
  func tell(_ notice: Notice) throws(SocketError) { try notices?.send(notice.text) }
}

extension Duration {
  fileprivate var microseconds: Int {
    Int(clamping: components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
  }
}
