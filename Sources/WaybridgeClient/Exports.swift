@_exported import WayValues

@_exported import enum WayNavigation.BackTarget
@_exported import struct WayNavigation.CallBuilder
@_exported import struct WayNavigation.EventTopic
@_exported import struct WayNavigation.NavigationChange
@_exported import struct WayNavigation.Outcome
@_exported import struct WayNavigation.PageCall
@_exported import struct WayNavigation.PageMethodCall
@_exported import struct WayNavigation.PageOutcome
@_exported import struct WayNavigation.PageResult
@_exported import enum WayNavigation.RouteKind
@_exported import enum WayNavigation.Style
@_exported import struct WayNavigation.TableStamp
@_exported import struct WayNavigation.TopicEvent
@_exported import struct WayNavigation.ValueCall
