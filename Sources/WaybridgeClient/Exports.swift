@_exported import WayValues

@_exported import enum WayNavigation.BackTarget
@_exported import struct WayNavigation.CallBuilder
@_exported import struct WayNavigation.NavigationChange
@_exported import struct WayNavigation.Outcome
@_exported import struct WayNavigation.PageResult
@_exported import enum WayNavigation.RouteKind
@_exported import enum WayNavigation.Style
@_exported import struct WayNavigation.TableStamp
