import WayNavigation
import WayRouting
import WayValues

/// Decides about the gates of one session: which of them are open, which calls wait at one, and
/// whether they continue or are refused. The session performs the returned effects.
struct SessionGates {
  /// An effect for the session to perform, in the order in which effects are returned.
  enum GateEffect {
    /// ``SessionGates/record`` has changed.
    case recordChange
    /// Report that a gate has opened or closed.
    case report(gate: String, isOpen: Bool)
    /// Make the call that opens the page of a gate, for a call of this URI. Record it with
    /// ``SessionGates/callBegan(_:at:)``, and report its result.
    case ask(Gate, for: String)
    /// Cancel the call of a gate, which is not needed any more.
    case cancel(CallNumber)
    /// Let a call continue, which has passed the first of its gates.
    case proceed(CallNumber, gates: [Gate])
    case refuse(CallNumber, CallError)
    /// Open the deep links that have waited at a gate, which is open now.
    case openLinks(gate: String)
    /// Refuse the deep links that have waited at a gate.
    case refuseLinks(gate: String, CallError)
  }

  /// A call that waits at a gate, and the gates that it needs.
  private struct WaitingCall {
    let number: CallNumber
    let gates: [Gate]
  }

  /// The state of a gate: closed → asked → open or closed; open → closed.
  private enum GateState {
    /// Its page is to be opened, or is open; these calls wait, in the order in which they came.
    case asked(Gate, call: CallNumber?, page: String?, [WaitingCall])
    case open
  }

  /// The state of a gate for clients.
  struct ReportedState: Encodable {
    let name: String
    let open: Bool
  }

  /// The stored form of the gates. Calls that wait are stored as all calls are.
  struct GatesRecord: Codable {
    /// The gates that are open.
    let open: [String]
    /// The page of each gate whose page is shown.
    let pages: [String: String]
  }

  /// The gates that are not closed, by name.
  private var states: [UTF8Key: GateState] = [:]

  /// Whether no gate is open or asked.
  var areAllClosed: Bool { states.isEmpty }

  var record: GatesRecord {
    var open: [String] = []
    var pages: [String: String] = [:]
    for (name, state) in states {
      switch state {
      case .open: open.append(name.text)
      case .asked(_, _, let page?, _): pages[name.text] = page
      case .asked: break
      }
    }
    return GatesRecord(open: open.sorted(), pages: pages)
  }

  func isOpen(_ gate: String) -> Bool {
    if case .open? = states[UTF8Key(gate)] { true } else { false }
  }

  /// Returns the states of gates for clients.
  func states(of gates: [Gate]) -> [ReportedState] {
    gates.map { ReportedState(name: $0.name, open: isOpen($0.name)) }
  }

  /// Returns the first of these gates that is not open; `nil` if a call that needs them may pass.
  func firstClosed(of gates: [Gate]) -> Gate? { gates.first { !isOpen($0.name) } }

  /// Lets a call of a URI wait at a gate that is not open. `gates` are all that it needs.
  mutating func wait(
    _ call: CallNumber, of uri: String, at gate: Gate, gates: [Gate]
  ) -> [GateEffect] {
    let effects = ask(gate, for: uri)
    update(gate.name) { $0.append(WaitingCall(number: call, gates: gates)) }
    return effects
  }

  /// Opens the page of a gate that is not open, for a call of a URI, unless that was done before.
  mutating func ask(_ gate: Gate, for uri: String) -> [GateEffect] {
    guard states[UTF8Key(gate.name)] == nil else { return [] }
    states[UTF8Key(gate.name)] = .asked(gate, call: nil, page: nil, [])
    return [.ask(gate, for: uri)]
  }

  /// Records the call that opens the page of a gate. Returns false if there is one, or if the gate has
  /// been opened or closed meanwhile: then the call is not needed.
  mutating func callBegan(_ call: CallNumber, at gate: String) -> Bool {
    guard case .asked(let gate, nil, let page, let waiting) = states[UTF8Key(gate)] else {
      return false
    }
    states[UTF8Key(gate.name)] = .asked(gate, call: call, page: page, waiting)
    return true
  }

  /// Records that the page of a gate is shown.
  mutating func pageShown(_ page: String, at gate: String) -> [GateEffect] {
    guard case .asked(let gate, let call, _, let waiting) = states[UTF8Key(gate)] else { return [] }
    states[UTF8Key(gate.name)] = .asked(gate, call: call, page: page, waiting)
    return [.recordChange]
  }

  /// Opens a gate, or refuses all calls that wait at it, by the result of its page. A call that was
  /// cancelled because the gate was opened otherwise has no effect.
  mutating func callEnded(
    _ call: CallNumber, at name: String, _ result: Result<Outcome, CallError>
  ) -> [GateEffect] {
    guard case .asked(let gate, call, let page, let waiting) = states[UTF8Key(name)] else {
      return []
    }
    let refusal: String? =
      switch result {
      case .success(let outcome): gate.refusal(for: outcome)
      case .failure(let error): error.message
      }
    guard let refusal else { return open(name, waiting) }
    states[UTF8Key(name)] = nil
    let error = CallError.refused(atGate: name, refusal)
    return (page == nil ? [] : [.recordChange])
      + waiting.map { .refuse($0.number, error) } + [.refuseLinks(gate: name, error)]
  }

  /// Opens or closes a gate for the session, as a client or the app's code has decided. Closing a gate
  /// whose page is open changes nothing: its page decides.
  mutating func set(_ name: String, isOpen: Bool) -> [GateEffect] {
    switch (states[UTF8Key(name)], isOpen) {
    case (.open?, true), (.asked?, false), (nil, false): return []
    case (nil, true): return open(name, [])
    case (.asked(_, let call, _, let waiting)?, true):
      return open(name, waiting) + (call.map { [.cancel($0)] } ?? [])
    case (.open?, false):
      states[UTF8Key(name)] = nil
      return [.recordChange, .report(gate: name, isOpen: false)]
    }
  }

  /// Removes a call that waits at a gate, because it was cancelled or has exceeded its deadline. The
  /// page of the gate stays open: its user may be at work there.
  mutating func remove(_ call: CallNumber, from gate: String) {
    update(gate) { $0.removeAll { $0.number == call } }
  }

  /// Restores a gate that was open before a restart.
  mutating func restore(open gate: String) { states[UTF8Key(gate)] = .open }

  /// Restores a gate whose page is shown since before a restart.
  mutating func restore(_ gate: Gate, page: String, call: CallNumber) {
    states[UTF8Key(gate.name)] = .asked(gate, call: call, page: page, [])
  }

  private mutating func open(_ name: String, _ waiting: [WaitingCall]) -> [GateEffect] {
    states[UTF8Key(name)] = .open
    return [.recordChange, .report(gate: name, isOpen: true)]
      + waiting.map { .proceed($0.number, gates: $0.gates) } + [.openLinks(gate: name)]
  }

  private mutating func update(_ name: String, _ change: (inout [WaitingCall]) -> Void) {
    guard case .asked(let gate, let call, let page, var waiting) = states[UTF8Key(name)] else {
      return
    }
    change(&waiting)
    states[UTF8Key(name)] = .asked(gate, call: call, page: page, waiting)
  }
}

/// The data of the error of a call that a gate has refused.
private struct GateRefusal: Encodable {
  let gate: String
  let reason: String
}

extension CallError {
  /// The error of a call that a gate has refused.
  fileprivate static func refused(atGate gate: String, _ reason: String) -> CallError {
    CallError(
      .refused, "Refused at the gate \(gate.quoted): \(reason)",
      data: RecordCoder.value(of: GateRefusal(gate: gate, reason: reason)).object ?? [:])
  }
}
