/// What a ``RouteModule`` or ``RouteService`` conforms to that the build plugin `WaybridgeModules` leaves out: the app
/// registers it by ``Router/register(module:)`` or ``Router/register(service:)``, or does not, as one for tests.
public protocol RegisteredByHand {}
