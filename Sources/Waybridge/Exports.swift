@_exported import WayNavigation
@_exported import WayPatterns
@_exported import WayRouting
import WaySession
@_exported import WayValues

@_exported import enum WaySession.Audience
@_exported import struct WaySession.AuditRecord
@_exported import struct WaySession.AwayPush
@_exported import struct WaySession.BridgeEvent
@_exported import struct WaySession.ClientInfo
@_exported import struct WaySession.Cluster
@_exported import struct WaySession.Delivery
@_exported import struct WaySession.DeliveryReceipt
@_exported import struct WaySession.EventClient
@_exported import struct WaySession.OpenedPage
@_exported import struct WaySession.Policy
@_exported import enum WaySession.ResultCheck
@_exported import struct WaySession.SessionChange
@_exported import struct WaySession.SessionConfiguration
@_exported import struct WaySession.SessionInfo
@_exported import struct WaySession.SessionLease
@_exported import protocol WaySession.SessionStore
@_exported import enum WaySession.SessionStoreError
@_exported import struct WaySession.StoredSession
@_exported import struct WaySockets.NetworkConfiguration
@_exported import struct WaySockets.WebConfiguration
@_exported import struct WayStore.SQLTransaction
@_exported import class WayStore.SQLiteEffects
@_exported import struct WayStore.SQLiteError
@_exported import class WayStore.SQLiteSessionStore
@_exported import class WayTable.LiveTable
@_exported import struct WayTable.TableChanges
@_exported import struct WayTable.TableError
@_exported import enum WayTable.TableOperation
@_exported import struct WayTransport.Handshake
@_exported import struct WayTransport.Limits

// For the command, which imports only this target.
package typealias PolicySubject = WaySession.PolicySubject
package typealias PolicyCase = WaySession.PolicyCase
package typealias PolicySimulator = WaySession.PolicySimulator
