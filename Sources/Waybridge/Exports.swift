@_exported import WayRouting
@_exported import WayValues

@_exported import struct WaySession.Limits
