/// The form in which other servers get the state of a session.
struct SessionInfoRecord: Codable {
  private struct ClientInfoRecord: Codable {
    let id: String
    let name: String?
    let version: String?
    let platform: String?
    let page: String?
  }

  private let id: String
  private let identity: IdentityRecord
  private let clients: [ClientInfoRecord]
  private let pages: [RecordInContext<PageRecord, PagePlace>]

  init(_ info: SessionInfo) {
    id = info.id
    identity = IdentityRecord(info.identity)
    clients = info.clients.map { client in
      ClientInfoRecord(
        id: client.id, name: client.name, version: client.version, platform: client.platform,
        page: client.page)
    }
    pages = info.pages.map { RecordInContext(PageRecord($0), in: PagePlace($0)) }
  }

  var info: SessionInfo {
    SessionInfo(
      id: id, identity: identity.identity,
      clients: clients.map { client in
        ClientInfo(
          id: client.id, name: client.name, version: client.version, platform: client.platform,
          page: client.page)
      },
      pages: pages.map { $0.content.page(at: $0.context) })
  }
}
