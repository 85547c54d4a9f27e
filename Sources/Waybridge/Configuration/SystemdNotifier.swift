import FoundationEssentials
import Glibc
import WaySockets

/// The service manager that started the process: systemd, or a program with the same protocol.
///
/// It may pass the socket to listen on (sd_listen_fds(3)). It is notified when the server listens,
/// reloads its files and ends (sd_notify(3)). It may require watchdog notifications
/// (sd_watchdog_enabled(3)), which are sent as long as all event loops run.
public struct SystemdNotifier: Sendable {
  /// The descriptor of the passed socket; nil if there is none.
  public let listeningDescriptor: Int32?
  /// The time without a notification after which it treats the process as hung; nil if it does not
  /// watch.
  public let watchdogTimeout: Duration?
  private let notificationSocket: SystemdNotificationSocket?

  /// Reads the environment variables `LISTEN_PID` and `LISTEN_FDS`, `NOTIFY_SOCKET`, `WATCHDOG_PID`
  /// and `WATCHDOG_USEC`. Values for another process are ignored. Nil if there is nothing for this
  /// process. Throws for an invalid number or address, and if more than one socket was passed.
  public init?(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
    listeningDescriptor = try Self.listeningDescriptor(environment)
    let name = environment["NOTIFY_SOCKET"] ?? ""
    notificationSocket = name.isEmpty ? nil : try SystemdNotificationSocket(name)
    let isWatched =
      try notificationSocket != nil
      && Self.isAddressedToProcess("WATCHDOG_PID", environment) != false
    let microseconds = isWatched ? try Self.number("WATCHDOG_USEC", environment) ?? 0 : 0
    watchdogTimeout = microseconds > 0 ? .microseconds(microseconds) : nil
    if listeningDescriptor == nil, notificationSocket == nil { return nil }
  }

  private static func listeningDescriptor(_ environment: [String: String]) throws -> Int32? {
    guard try isAddressedToProcess("LISTEN_PID", environment) == true,
      let count = try number("LISTEN_FDS", environment), count > 0
    else { return nil }
    guard count == 1 else {
      throw SocketError(
        .invalid,
        "the service manager passed \(count) sockets (LISTEN_FDS), but a server listens on one; "
          + "start one server for each socket")
    }
    // SD_LISTEN_FDS_START
    return 3
  }

  /// Whether a variable contains the id of this process; nil if it is not set.
  private static func isAddressedToProcess(_ name: String, _ environment: [String: String]) throws
    -> Bool?
  {
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
  /// A notification for the service manager.
  enum SystemdNotification {
    case listening(BridgeServerAddress)
    /// A reload is complete.
    case ready
    case reloading
    /// A reload has ended, and the content of this file is not in force.
    case rejected(FileReload)
    /// The server stops, within this time at most.
    case stopping(within: Duration)
    case watchdog

    var text: String {
      switch self {
      case .listening(let address): "READY=1\nSTATUS=listening on \(address)"
      case .ready: "READY=1"
      case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)"
      case .rejected(let file):
        // A status is one line.
        "STATUS=reload: \(file.path) is not in force: "
          + (file.rejection ?? "").split(whereSeparator: \.isNewline).joined(separator: " ")
      case .stopping(let time):
        "STOPPING=1\nEXTEND_TIMEOUT_USEC=\(time.microseconds)\nSTATUS=draining"
      case .watchdog: "WATCHDOG=1"
      }
    }

    /// clock_gettime: microseconds of CLOCK_MONOTONIC.
    private static var monotonicMicroseconds: Int {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
  }

  /// Sends a notification, if the service manager accepts notifications. Throws if that fails.
  func notify(_ notification: SystemdNotification) throws(SocketError) {
    try notificationSocket?.send(notification.text)
  }
}

extension Duration {
  fileprivate var microseconds: Int {
    Int(clamping: components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
  }
}
