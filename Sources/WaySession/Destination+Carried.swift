import WayRPC
import WayRouting

extension Destination {
  /// Throws where what a call carries would have to leave the process.
  func check(_ carried: Carried) throws(RPCError) {
    switch kind {
    case .hostedTask, .page(.client), .back, .selectTab:
      throw RPCError(carried.refusal(of: uri.text))
    case .task, .asyncTask, .page(.swift), .undefined, .module: break
    }
  }
}
