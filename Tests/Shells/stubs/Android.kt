// What the recipe for Android uses of the platform, without what it does.
package android.annotation

annotation class SuppressLint(vararg val value: String)
