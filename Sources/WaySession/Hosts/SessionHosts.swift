import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// The hosts that the clients of one session have registered.
struct SessionHosts {
  /// A host that a client has registered.
  struct RegisteredHost: Sendable, Hashable {
    let definition: SessionHostDefinition
    let kind: RouteKind
    private(set) var client: ClientID

    /// Returns `nil` for the definition of an interceptor.
    init?(definition: SessionHostDefinition, client: ClientID) {
      guard let kind = definition.kind else { return nil }
      (self.definition, self.kind, self.client) = (definition, kind, client)
    }

    /// Returns the same host of another client.
    func ofClient(_ client: ClientID) -> RegisteredHost {
      var host = self
      host.client = client
      return host
    }
  }

  /// An interceptor that a client has registered.
  struct RegisteredInterceptor: Sendable {
    let interceptor: ClientInterceptor
    let client: ClientID
    fileprivate let number: PatternIndex.RegistrationNumber
  }

  private var index = PatternIndex()
  private var hosts: [PatternIndex.RegistrationNumber: RegisteredHost] = [:]
  private var interceptors: [PatternIndex.RegistrationNumber: RegisteredInterceptor] = [:]
  /// The definitions of each client, in the order of registration.
  private var registrations: [ClientID: [HostRegistration]] = [:]
  /// The clients with hosts that have lost their connection and may resume.
  private var absentClients: Set<ClientID> = []
  /// The weight of all patterns.
  private var weight = 0
  private let limits: Limits
  /// The approximate memory of a pattern beyond its text, in bytes for each unit of its weight.
  private static let unitSize = 2048

  fileprivate struct HostRegistration {
    let number: PatternIndex.RegistrationNumber
    let definition: SessionHostDefinition
    let weight: Int
    let charge: ByteBudget.Charge
  }

  init(limits: Limits) {
    self.limits = limits
  }

  var isEmpty: Bool { hosts.isEmpty }

  /// Whether clients have registered interceptors.
  var hasInterceptors: Bool { !interceptors.isEmpty }

  /// The definitions of all hosts, in no order.
  var definitions: [SessionHostDefinition] { hosts.values.map(\.definition) }

  /// The number of registered definitions.
  var count: Int { hosts.count }

  /// Registers the hosts of a client: all of them, or none if one is invalid. A definition that the
  /// client has registered before becomes the last one.
  ///
  /// `charge` charges the bytes that a definition uses.
  mutating func register(
    _ definitions: [SessionHostDefinition], as id: ClientID, router: RouterSnapshot,
    _ charge: (Int) throws(CallError) -> ByteBudget.Charge
  ) throws(CallError) {
    let new = Set(definitions)
    let (replaced, remaining) = (registrations[id] ?? []).partitioned {
      new.contains($0.definition)
    }
    var room = limits.maxPatterns - weight + replaced.weight
    // Each pattern has at least weight one, so that patterns above the limit need not be parsed.
    guard definitions.reduce(0, { $0 + $1.patterns.count }) <= room else { throw tooManyPatterns }
    var added: [(scheme: String?, patterns: [RoutePattern])] = []
    var weights: [Int] = []
    for definition in definitions {
      let before = room
      let patterns = try patterns(of: definition, router, room: &room)
      weights.append(before - room)
      added.append((definition.scheme, patterns))
    }
    guard remaining.count + added.count <= limits.maxHosts else {
      throw CallError(.tooMany, "A client may register at most \(limits.maxHosts) hosts")
    }
    var charges: [ByteBudget.Charge] = []
    for (definition, weight) in zip(definitions, weights) {
      charges.append(try charge(definition.size + weight * Self.unitSize))
    }
    weight = limits.maxPatterns - room
    remove(replaced)
    let numbers = index.add(added)
    for (number, definition) in zip(numbers, definitions) {
      hosts[number] = RegisteredHost(definition: definition, client: id)
      interceptors[number] = definition.interceptor.map {
        RegisteredInterceptor(interceptor: $0, client: id, number: number)
      }
    }
    registrations[id] =
      remaining
      + definitions.indices.map { index in
        HostRegistration(
          number: numbers[index], definition: definitions[index], weight: weights[index],
          charge: charges[index])
      }
  }

  private var tooManyPatterns: CallError {
    CallError(
      .tooMany,
      "The hosts of a session may have at most \(limits.maxPatterns) patterns; a pattern with "
        + "optional groups or more than eight segments counts several times",
      data: ["limit": .integer(Int64(limits.maxPatterns))])
  }

  /// Parses the patterns of a definition, and subtracts their weight from `room`.
  private func patterns(
    of definition: SessionHostDefinition, _ router: RouterSnapshot, room: inout Int
  ) throws(CallError) -> [RoutePattern] {
    var patterns: [RoutePattern] = []
    for text in definition.patterns {
      let pattern: RoutePattern
      do { pattern = try RoutePattern(text) } catch {
        throw .invalidParams("The pattern \(text.quoted) of a host: \(error)")
      }
      if let scheme = definition.scheme, let own = pattern.scheme, own != scheme {
        throw .invalidParams("The pattern \(text.quoted) does not have the host's scheme \(scheme)")
      }
      room -= pattern.weight
      // The other patterns need not be parsed.
      guard room >= 0 else { throw tooManyPatterns }
      patterns.append(pattern)
    }
    for scheme in Set(patterns.compactMap(\.scheme) + [definition.scheme].compactMap(\.self)) {
      if let kind = definition.kind, !router.accepts(kind, inScheme: scheme) {
        throw .invalidParams(
          "The app handles the scheme \(scheme) itself; its routes are not \(kind.rawValue)s")
      }
    }
    return patterns
  }

  /// Records whether a client has lost its connection. Hosts of connected clients come first.
  mutating func update(_ client: ClientID, isAbsent: Bool) {
    if isAbsent { absentClients.insert(client) } else { absentClients.remove(client) }
  }

  /// Whether a client has lost its connection.
  func isAbsent(_ client: ClientID) -> Bool { absentClients.contains(client) }

  /// Whether a client with hosts may have lost its connection.
  var mayHaveAbsentHosts: Bool { !absentClients.isEmpty }

  /// Unregisters hosts of a client. Pages that are already shown stay.
  mutating func unregister(_ definitions: [SessionHostDefinition], of client: ClientID)
    throws(CallError)
  {
    let unregistered = Set(definitions)
    let (removed, remaining) = (registrations[client] ?? []).partitioned {
      unregistered.contains($0.definition)
    }
    if let unknown = unregistered.subtracting(removed.map(\.definition)).first {
      throw .invalidParams("This client has not registered the host \(unknown.value)")
    }
    registrations[client] = remaining.isEmpty ? nil : remaining
    forget(removed)
  }

  mutating func removeAll(of client: ClientID) {
    absentClients.remove(client)
    forget(registrations.removeValue(forKey: client) ?? [])
  }

  private mutating func forget(_ removed: [HostRegistration]) {
    remove(removed)
    weight -= removed.weight
  }

  private mutating func remove(_ removed: [HostRegistration]) {
    for registration in removed {
      hosts[registration.number] = nil
      interceptors[registration.number] = nil
    }
    index.remove(removed.map(\.number))
  }

  /// Returns the definitions of a client, in the order of registration.
  func definitions(of client: ClientID) -> [SessionHostDefinition] {
    (registrations[client] ?? []).map(\.definition)
  }

  /// Returns the first host of a URI, except those that have declined it; `nil` for `kind` allows
  /// any kind. If `patternsOnly` is true, hosts of a whole scheme are skipped. If `connectedOnly` is
  /// true, hosts of clients without a connection are skipped.
  func find(
    _ uri: RouteURI, kind: RouteKind?, patternsOnly: Bool = false, connectedOnly: Bool = false,
    except declined: Set<RegisteredHost> = []
  ) throws(CallError) -> ChosenHost? {
    if hosts.isEmpty { return nil }
    var chosen: RegisteredHost?
    do {
      let found = try index.find(uri) { number, pattern in
        guard let host = hosts[number], (kind ?? host.kind) == host.kind,
          pattern != nil || !patternsOnly, !declined.contains(host),
          !connectedOnly || !absentClients.contains(host.client)
        else { return false }
        chosen = host
        return true
      }
      guard let found, let chosen else { return nil }
      return ChosenHost(chosen, pattern: found.pattern?.text, captures: found.captures)
    } catch {
      throw CallError(RouterResolutionError(error))
    }
  }
}

extension SessionHosts {
  /// Returns the interceptors of clients that see a call, in the order of their registration: those with
  /// a pattern that matches the URI, and those of the groups of its route.
  func interceptors(
    of uri: RouteURI, groups: Set<UTF8Key>
  ) -> [RegisteredInterceptor] {
    var found: Set<PatternIndex.RegistrationNumber> = []
    // A URI whose captures are no text matches too; the call then fails at its route.
    _ = try? index.find(uri) { number, _ in
      if interceptors[number] != nil { found.insert(number) }
      return false
    }
    return interceptors.values.filter { entry in
      found.contains(entry.number)
        || entry.interceptor.groups.contains { groups.contains(UTF8Key($0)) }
    }.sorted { $0.number < $1.number }
  }
}

extension [SessionHosts.HostRegistration] {
  fileprivate var weight: Int { reduce(0) { $0 + $1.weight } }

  /// Returns the registrations for which `isFirst` is true, and the others.
  fileprivate func partitioned(_ isFirst: (Element) -> Bool) -> (Self, Self) {
    (filter(isFirst), filter { !isFirst($0) })
  }
}
