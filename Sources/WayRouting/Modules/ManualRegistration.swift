/// A ``RouteModule`` or ``RouteService`` that the build plugin `WaybridgeModules` leaves out. The
/// app registers it by ``Router/register(module:)`` or ``Router/register(service:)``, or does not,
/// for example if it is only for tests.
///
/// A type declares the conformance at the top level of any file of its target; an `#if` around that
/// makes no difference. For a type of another package, the app declares it with the type's full
/// name, `extension Kit.Player: @retroactive ManualRegistration {}`.
public protocol ManualRegistration {}
