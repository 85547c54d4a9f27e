import WayNavigation

/// The form in which other servers get the state of a session.
struct SessionInfoRecord: Codable {
  private struct PlacedPageRecord: Codable {
    let place: PagePlace
    let page: PageRecord

    init(_ page: Page) {
      place = PagePlace(page)
      self.page = PageRecord(page)
    }

    // The members of both are those of this record.
    init(from decoder: any Decoder) throws {
      place = try PagePlace(from: decoder)
      page = try PageRecord(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
      try place.encode(to: encoder)
      try page.encode(to: encoder)
    }
  }

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
  private let pages: [PlacedPageRecord]

  init(_ info: SessionInfo) {
    id = info.id
    identity = IdentityRecord(info.identity)
    clients = info.clients.map { client in
      ClientInfoRecord(
        id: client.id, name: client.name, version: client.version, platform: client.platform,
        page: client.page)
    }
    pages = info.pages.map(PlacedPageRecord.init)
  }

  var info: SessionInfo {
    SessionInfo(
      id: id, identity: identity.identity,
      clients: clients.map { client in
        ClientInfo(
          id: client.id, name: client.name, version: client.version, platform: client.platform,
          page: client.page)
      },
      pages: pages.map { $0.page.page(at: $0.place) })
  }
}
