// The part of the platform that the recipe for Android uses, without behaviour.
package android.annotation

annotation class SuppressLint(vararg val value: String)
