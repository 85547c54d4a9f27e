import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// What the members of one session show and run.
struct SessionHosts {
  /// A declaration of a client.
  struct Host: Sendable, Hashable {
    let definition: HostDefinition
    let client: ClientID
  }

  private var index = PatternIndex()
  private var hosts: [PatternIndex.Number: Host] = [:]
  /// What each client has declared, in the order of registration.
  private var registrations: [ClientID: [Registration]] = [:]
  /// How much all patterns weigh.
  private var weight = 0
  private let limits: Limits
  /// About what a pattern costs beside its text, in bytes, for each unit of its weight.
  private static let unitSize = 2048

  fileprivate struct Registration {
    let number: PatternIndex.Number
    let definition: HostDefinition
    let weight: Int
    let charge: ByteBudget.Charge
  }

  init(limits: Limits) {
    self.limits = limits
  }

  var isEmpty: Bool { hosts.isEmpty }

  /// All declarations, in no order.
  var definitions: [HostDefinition] { registrations.values.flatMap { $0.map(\.definition) } }

  /// How many declarations there are.
  var count: Int { hosts.count }

  /// Adds what a client declares, all of it or, when something is wrong, nothing. A definition that
  /// the client has declared before becomes the last registered. `charge` takes the bytes that it
  /// keeps.
  mutating func register(
    _ definitions: [HostDefinition], as id: ClientID, router: RouterSnapshot,
    _ charge: (Int) throws(CallError) -> ByteBudget.Charge
  ) throws(CallError) {
    let new = Set(definitions)
    let (replaced, kept) = (registrations[id] ?? []).parted { new.contains($0.definition) }
    var room = limits.maxPatterns - weight + replaced.weight
    // Each weighs one at least, so that what is too much need not be read.
    guard definitions.reduce(0, { $0 + $1.patterns.count }) <= room else { throw tooManyPatterns }
    var added: [(scheme: String?, patterns: [RoutePattern])] = []
    var weights: [Int] = []
    for definition in definitions {
      let before = room
      let patterns = try patterns(of: definition, router, room: &room)
      weights.append(before - room)
      added.append((definition.scheme, patterns))
    }
    guard kept.count + added.count <= limits.maxHosts else {
      throw CallError(.tooMany, "A client may declare \(limits.maxHosts) hosts")
    }
    var charges: [ByteBudget.Charge] = []
    for (definition, weight) in zip(definitions, weights) {
      charges.append(try charge(definition.size + weight * Self.unitSize))
    }
    weight = limits.maxPatterns - room
    remove(replaced)
    let numbers = index.add(added)
    for (number, definition) in zip(numbers, definitions) {
      hosts[number] = Host(definition: definition, client: id)
    }
    registrations[id] =
      kept
      + definitions.indices.map { index in
        Registration(
          number: numbers[index], definition: definitions[index], weight: weights[index],
          charge: charges[index])
      }
  }

  private var tooManyPatterns: CallError {
    CallError(
      .tooMany,
      "The hosts of a session may have \(limits.maxPatterns) patterns, each counted in all ways to "
        + "read its optional groups, and once more for each eight segments",
      data: ["limit": .integer(Int64(limits.maxPatterns))])
  }

  /// Reads the patterns of a definition, which take up room by their weight.
  private func patterns(
    of definition: HostDefinition, _ router: RouterSnapshot, room: inout Int
  ) throws(CallError) -> [RoutePattern] {
    var patterns: [RoutePattern] = []
    for text in definition.patterns {
      let pattern: RoutePattern
      do { pattern = try RoutePattern(text) } catch {
        throw .invalidParams("The pattern \(text.quoted) of a host: \(error)")
      }
      if let scheme = definition.scheme, let own = pattern.scheme, own != scheme {
        throw .invalidParams("The pattern \(text.quoted) is not of the host's scheme \(scheme)")
      }
      room -= pattern.weight
      // The rest need not be read.
      guard room >= 0 else { throw tooManyPatterns }
      patterns.append(pattern)
    }
    for scheme in Set(patterns.compactMap(\.scheme) + [definition.scheme].compactMap(\.self)) {
      guard router.takes(definition.kind, inScheme: scheme) else {
        throw .invalidParams(
          "The scheme \(scheme) belongs to another dispatcher:"
            + " its routes are no \(definition.kind.rawValue)s")
      }
    }
    return patterns
  }

  /// Takes back definitions of a client. What is already shown stays.
  mutating func unregister(_ definitions: [HostDefinition], of client: ClientID) throws(CallError) {
    let taken = Set(definitions)
    let (removed, kept) = (registrations[client] ?? []).parted { taken.contains($0.definition) }
    if let unknown = taken.subtracting(removed.map(\.definition)).first {
      throw .invalidParams("This client has not registered such a host: \(unknown.value)")
    }
    registrations[client] = kept.isEmpty ? nil : kept
    forget(removed)
  }

  mutating func removeAll(of client: ClientID) {
    forget(registrations.removeValue(forKey: client) ?? [])
  }

  private mutating func forget(_ removed: [Registration]) {
    remove(removed)
    weight -= removed.weight
  }

  private mutating func remove(_ removed: [Registration]) {
    for registration in removed { hosts[registration.number] = nil }
    index.remove(removed.map(\.number))
  }

  /// What a client has declared, in the order of registration.
  func definitions(of client: ClientID) -> [HostDefinition] {
    (registrations[client] ?? []).map(\.definition)
  }

  /// Who serves a URI first, those left out who have declined it; `kind` nil takes any. Where
  /// `patternsOnly`, a host of a whole scheme does not.
  func find(
    _ uri: RouteURI, kind: RouteKind?, patternsOnly: Bool = false, except declined: Set<Host> = []
  ) throws(CallError) -> ChosenHost? {
    if hosts.isEmpty { return nil }
    var chosen: Host?
    do {
      let found = try index.find(uri) { number, pattern in
        guard let host = hosts[number], (kind ?? host.definition.kind) == host.definition.kind,
          pattern != nil || !patternsOnly, !declined.contains(host)
        else { return false }
        chosen = host
        return true
      }
      guard let found, let chosen else { return nil }
      return ChosenHost(chosen, pattern: found.pattern?.text, captures: found.captures)
    } catch {
      throw CallError(ResolutionError(error))
    }
  }
}

extension [SessionHosts.Registration] {
  fileprivate var weight: Int { reduce(0) { $0 + $1.weight } }

  /// Those that `isFirst` holds for, and the others.
  fileprivate func parted(_ isFirst: (Element) -> Bool) -> (Self, Self) {
    (filter(isFirst), filter { !isFirst($0) })
  }
}
