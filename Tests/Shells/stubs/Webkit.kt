package android.webkit

import android.content.Context

annotation class JavascriptInterface

interface WebResourceRequest

fun interface ValueCallback<T> {
    fun onReceiveValue(value: T)
}

abstract class WebSettings {
    abstract var javaScriptEnabled: Boolean
    abstract var domStorageEnabled: Boolean
}

open class WebViewClient {
    open fun shouldOverrideUrlLoading(view: WebView, request: WebResourceRequest): Boolean = false
}

open class WebView(context: Context) {
    val settings: WebSettings get() = throw NotImplementedError("$context")
    var webViewClient: WebViewClient = WebViewClient()
    private val context = context

    fun addJavascriptInterface(value: Any, name: String): Unit = throw NotImplementedError("$value $name")

    fun loadUrl(url: String): Unit = throw NotImplementedError(url)

    fun evaluateJavascript(script: String, callback: ValueCallback<String>?): Unit = throw NotImplementedError("$script $callback")

    fun post(action: Runnable): Boolean = throw NotImplementedError("$action")

    fun destroy(): Unit = throw NotImplementedError()
}
