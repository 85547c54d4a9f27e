/// A state that changes only as its table allows.
final class StateMachine<S extends Object, E extends Object> {
  StateMachine(this._state, this._table);

  S _state;
  final Map<S, Map<E, S>> _table;

  /// The current state.
  S get state => _state;

  /// Whether the table has the event in this state.
  bool canApply(E event) => _next(event) != null;

  /// Applies an event that the table has in this state. Any other event is a
  /// bug of this package.
  void apply(E event) {
    final next = _next(event);
    if (next == null) throw StateError('The state $_state has no event $event');
    _state = next;
  }

  S? _next(E event) {
    final row = _table[_state];
    return row == null ? null : row[event];
  }
}
