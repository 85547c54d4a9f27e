import WayValues

/// The stored form of the deep links of a session.
struct DeepLinksRecord: Codable {
  /// A deep link that waits.
  struct WaitingLinkRecord: Codable {
    private enum CodingKeys: CodingKey {
      case caller, keyOwner, to
    }

    let link: DeepLinkRecord
    let caller: CallerRecord
    let keyOwner: String?
    /// The audience of the push that has brought the link.
    let to: Value?

    fileprivate init(_ link: PendingLinks.PendingLink) {
      self.link = DeepLinkRecord(link.deepLink)
      caller = CallerRecord(link.rights.caller)
      keyOwner = link.keyOwner
      to = link.unclaimedLink?.audience.value
    }

    // The members of the link are those of this record.
    init(from decoder: any Decoder) throws {
      link = try DeepLinkRecord(from: decoder)
      let members = try decoder.container(keyedBy: CodingKeys.self)
      caller = try members.decode(CallerRecord.self, forKey: .caller)
      keyOwner = try members.decodeIfPresent(String.self, forKey: .keyOwner)
      to = try members.decodeIfPresent(Value.self, forKey: .to)
    }

    func encode(to encoder: any Encoder) throws {
      try link.encode(to: encoder)
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(caller, forKey: .caller)
      try members.encodeIfPresent(keyOwner, forKey: .keyOwner)
      try members.encodeIfPresent(to, forKey: .to)
    }
  }

  let waiting: [WaitingLinkRecord]

  init(_ links: PendingLinks) { waiting = links.storedLinks.map(WaitingLinkRecord.init) }
}
