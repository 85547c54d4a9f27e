import CLibwebsockets
import Glibc
import WayTransport

/// A libwebsockets vhost without a listening socket: the protocols of one server, or of a loop's
/// clients.
///
/// The loop retains it until lws has released it.
final class VirtualHost {
  /// The name by which lws distinguishes vhosts.
  let name: String
  private(set) var pointer: OpaquePointer?
  /// Number of sockets of this vhost in lws (WSI_CREATE, WSI_DESTROY).
  var socketCount = 0

  private let loop: SocketLoop
  /// The owner that the callbacks find with lws_vhost_user.
  private let owner: SocketOwner
  /// The names in C memory, because lws stores their addresses without copying them.
  private let names: [UnsafeMutablePointer<CChar>]

  private static let serial = Locked(0)

  /// Creates a vhost. `subprotocols` are those that lws may select for a server's connections.
  init(
    loop: SocketLoop, isServer: Bool, subprotocols: [String], owner: SocketOwner
  ) throws(SocketError) {
    guard let context = loop.context else { throw SocketError(.ended, "the loop has ended") }
    self.loop = loop
    self.owner = owner
    let number = Self.serial.withLock { serial in
      serial += 1
      return serial
    }
    name = "waybridge-\(number)"
    var names: [UnsafeMutablePointer<CChar>] = []
    // Connections without a subprotocol use the first protocol.
    for text in [name] + subprotocols {
      if let copy = strdup(text) { names.append(copy) }
    }
    self.names = names
    var protocols = names.map { name in
      var entry = lws_protocols()
      entry.name = UnsafePointer(name)
      entry.callback = socketCallback
      entry.rx_buffer_size = Libwebsockets.receiveSize
      entry.tx_packet_size = Libwebsockets.transmitSize
      return entry
    }
    protocols.append(lws_protocols())
    var info = lws_context_creation_info()
    info.port = isServer ? way_lws_no_listen_server : way_lws_no_listen
    info.user = Unmanaged.passUnretained(owner).toOpaque()
    info.connect_timeout_secs = 10
    pointer = protocols.withUnsafeBufferPointer { protocols in
      info.protocols = protocols.baseAddress
      info.vhost_name = UnsafePointer(names.first)
      // Port 0 disables the proxy that lws would otherwise read from the environment
      // (lws_set_proxy).
      return ":0".withCString { proxy in
        info.http_proxy_address = proxy
        return lws_create_vhost(context, &info)
      }
    }
    guard pointer != nil else { throw SocketError(.system, "lws_create_vhost failed") }
    loop.virtualHosts.append(self)
    owner.virtualHost = self
  }

  /// Calls lws_vhost_destroy, which is only safe without sockets and while the context exists.
  /// Otherwise the end of the context frees the vhost.
  func destroy() {
    guard socketCount == 0, loop.context != nil, let pointer else { return }
    self.pointer = nil
    lws_vhost_destroy(pointer)
    release()
  }

  /// Breaks the reference cycle. lws makes no more callbacks.
  func release() {
    owner.virtualHost = nil
    loop.virtualHosts.removeAll { $0 === self }
  }

  deinit {
    for name in names { free(name) }
  }
}
