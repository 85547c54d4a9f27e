package org.json

class JSONObject() {
    constructor(json: String) : this() {
        throw NotImplementedError(json)
    }

    fun getInt(name: String): Int = throw NotImplementedError(name)

    fun getString(name: String): String = throw NotImplementedError(name)

    fun getJSONObject(name: String): JSONObject = throw NotImplementedError(name)

    fun optJSONObject(name: String): JSONObject? = throw NotImplementedError(name)

    fun put(name: String, value: Any?): JSONObject = throw NotImplementedError("$name $value")

    companion object {
        fun quote(text: String?): String = throw NotImplementedError("$text")
    }
}
