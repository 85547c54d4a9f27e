/// The kinds of session events that have an observer outside of the sessions of one loop: the event
/// sink, Swift code, and inspectors. Its sessions read them with every event, so that a change does
/// not have to visit each session.
///
/// Confined to its loop.
final class ObservedEventKinds: @unchecked Sendable {
  /// The kinds that the event sink receives.
  let sink: SessionEvent.EventKinds
  /// The kinds that Swift code listens to.
  @exclusivity(unchecked) private(set) var app: SessionEvent.EventKinds = []
  /// The kinds that inspectors need.
  @exclusivity(unchecked) private(set) var inspector: SessionEvent.EventKinds = []
  /// The kinds that any of them observes.
  @exclusivity(unchecked) private(set) var all: SessionEvent.EventKinds

  init(sink: SessionEvent.EventKinds) {
    self.sink = sink
    all = sink
  }

  /// Sets the kinds that Swift code listens to.
  func setApp(_ kinds: SessionEvent.EventKinds) {
    app = kinds
    update()
  }

  /// Sets the kinds that inspectors need.
  func setInspector(_ kinds: SessionEvent.EventKinds) {
    inspector = kinds
    update()
  }

  private func update() { all = sink.union(app).union(inspector) }
}
