// The parts that are the same in every Kotlin file.
extension KotlinCode {
  static let clientInterface = #"""
    /**
     * The client that the calls below use. Values are those of JSON: null, Boolean, Number, String, List<Any?>
     * and Map<String, Any?>.
     */
    interface RouteClient {
        /** Opens a page and returns when it is gone, with `{"outcome", "code", "message", "data"}`. */
        suspend fun open(uri: String, params: Map<String, Any?>): Map<String, Any?>

        /** Runs a task or service and returns its value. */
        suspend fun invoke(uri: String, params: Map<String, Any?>): Any?

        /** Calls a method of an open page and returns its result. */
        suspend fun call(page: String, method: String, params: Map<String, Any?>): Any?

        /** Passes the data of each event of a topic to `listener`, until it is closed. */
        fun listen(topic: String, listener: (Any?) -> Unit): AutoCloseable

        /** Publishes an event in the client's session. */
        suspend fun publish(topic: String, data: Any?)
    }

    /**
     * How a page ended: `kind` is finished, dismissed, replaced, failed or cancelled, `data` is its result, null
     * without one.
     */
    data class PageOutcome<R>(val kind: String, val code: Long, val message: String, val data: R?)

    /** A value does not fit the table, or a parameter has no place in a URI. */
    class RouteException(message: String) : Exception(message)

    """#

  static let runtimeHelpers = #"""
    private object LeftOut

    private fun membersOf(vararg members: Pair<String, Any?>): Map<String, Any?> =
        members.filter { it.second !== LeftOut }.toMap()

    private suspend fun <R> RouteClient.openRoute(
        patterns: List<String>, params: Map<String, Any?>, read: (Any?, String) -> R,
    ): PageOutcome<R> {
        val (uri, rest) = filled(patterns, params)
        val outcome = open(uri, rest)
        val kind = readText(outcome["outcome"], "outcome")
        val data = outcome["data"]
        return PageOutcome(
            kind, readInteger(outcome["code"], "code"), readText(outcome["message"], "message"),
            if (kind == "finished" && data != null) read(data, uri) else null,
        )
    }

    private suspend fun <R> RouteClient.invokeRoute(
        patterns: List<String>, params: Map<String, Any?>, read: (Any?, String) -> R,
    ): R {
        val (uri, rest) = filled(patterns, params)
        return read(invoke(uri, rest), uri)
    }

    private suspend fun <R> RouteClient.callMethod(
        page: String, method: String, params: Map<String, Any?>, read: (Any?, String) -> R,
    ): R = read(call(page, method, params), method)

    /** Fills in the first of the patterns that all names are there for, and takes those out. */
    private fun filled(patterns: List<String>, params: Map<String, Any?>): Pair<String, Map<String, Any?>> {
        for (pattern in patterns) {
            val colon = pattern.indexOf(':') + 1
            val parts = pattern.substring(colon).split("/")
            val names = parts.filter { it.startsWith(":") }.map { it.substring(1) }
            if (pattern != patterns.last() && names.any { params[it] == null }) continue
            val segments = parts.flatMap { part ->
                when {
                    part == "*" -> readList(params["*"], "*") { one, path -> segment(one, path, one == "") }
                    part.startsWith(":") -> listOf(segment(params[part.substring(1)], part.substring(1), false))
                    else -> listOf(part)
                }
            }
            val end = if (parts.last() == "*" && segments.last() == "") "/" else ""
            return Pair(
                pattern.substring(0, colon) + segments.joinToString("/") + end,
                params.filterKeys { it !in names && !(it == "*" && parts.last() == "*") },
            )
        }
        throw RouteException("a call needs a pattern")
    }

    private fun segment(value: Any?, name: String, mayBeEmpty: Boolean): String {
        val text = if (value is String || value is Number || value is Boolean) value.toString() else ""
        if (text == "." || text == ".." || (text == "" && !mayBeEmpty)) {
            throw RouteException("$name is a part of the URI: it must be there, and not be empty, '.' or '..'")
        }
        return java.net.URLEncoder.encode(text, "UTF-8").replace("+", "%20").replace("*", "%2A")
    }

    private fun unfit(path: String, expected: String, json: Any?): Nothing =
        throw RouteException("$path has to be $expected; it is ${if (json == null) "null" else json::class.simpleName}")

    private fun memberPath(path: String, name: String): String = "$path.$name"

    private fun readText(json: Any?, path: String): String = json as? String ?: unfit(path, "a string", json)

    private fun readInteger(json: Any?, path: String): Long {
        val number = json as? Number
        if (number == null || number.toDouble() != Math.floor(number.toDouble())) unfit(path, "an integer", json)
        return number.toLong()
    }

    private fun readNumber(json: Any?, path: String): Double =
        (json as? Number)?.toDouble() ?: unfit(path, "a number", json)

    private fun readTruth(json: Any?, path: String): Boolean = json as? Boolean ?: unfit(path, "true or false", json)

    private fun readObject(json: Any?, path: String): Map<String, Any?> =
        (json as? Map<*, *>)?.entries?.associate { it.key.toString() to it.value } ?: unfit(path, "an object", json)

    private fun <T> readList(json: Any?, path: String, read: (Any?, String) -> T): List<T> =
        (json as? List<*>)?.mapIndexed { index, one -> read(one, "$path[$index]") } ?: unfit(path, "an array", json)

    private fun <T> readOrNull(json: Any?, path: String, read: (Any?, String) -> T): T? =
        if (json == null) null else read(json, path)

    """#
}
