@_exported import WayValues

@_exported import enum WayRPC.ErrorCode
@_exported import struct WayRouting.CallBuilder
@_exported import struct WayRouting.Outcome
@_exported import enum WayRouting.RouteKind
@_exported import enum WayRouting.Style
@_exported import struct WayRouting.TaskError
