package android.app

abstract class Service {
    open fun onCreate() {}

    open fun onDestroy() {}

    open fun onLowMemory() {}

    fun stopSelf() {}
}
