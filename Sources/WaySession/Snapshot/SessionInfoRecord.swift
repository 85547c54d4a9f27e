/// The form in which other servers get the state of a session.
struct SessionInfoRecord: Codable {
  private struct PlacedPageRecord: Codable {
    let place: PagePlace
    let page: PageRecord
  }

  private let id: String
  private let identity: IdentityRecord
  private let clients: [ClientInfo]
  private let pages: [PlacedPageRecord]

  init(_ info: SessionInfo) {
    id = info.id
    identity = IdentityRecord(info.identity)
    clients = info.clients
    pages = info.pages.map { PlacedPageRecord(place: PagePlace($0), page: PageRecord($0)) }
  }

  var info: SessionInfo {
    SessionInfo(
      id: id, identity: identity.identity, clients: clients,
      pages: pages.map { $0.page.page(at: $0.place) })
  }
}
