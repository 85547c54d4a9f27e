/// What a ``RouteModule`` or ``RouteService`` conforms to that the build plugin `WaybridgeModules`
/// leaves out: the app registers it by ``Router/register(module:)`` or
/// ``Router/register(service:)``, or does not, as one for tests.
///
/// The type says so itself, at the top level of any file of its target; an `#if` around that makes
/// no difference. An app says it of a type of another package by its full name, `extension
/// Kit.Player: @retroactive RegisteredByHand {}`.
public protocol ManualRegistration {}
