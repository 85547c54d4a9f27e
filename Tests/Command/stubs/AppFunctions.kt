// The part of androidx.appfunctions 1.0.0-rc01 that generated code uses, with the declarations that its documentation lists.
package androidx.appfunctions

import android.app.Service

@Retention(AnnotationRetention.BINARY)
@Target(AnnotationTarget.FUNCTION)
annotation class AppFunctionDeclaration(val isDescribedByKDoc: Boolean)

@Retention(AnnotationRetention.BINARY)
@Target(AnnotationTarget.CLASS)
annotation class AppFunctionSerializable(val isDescribedByKDoc: Boolean)

@Retention(AnnotationRetention.SOURCE)
@Target(AnnotationTarget.CLASS)
annotation class AppFunctionServiceEntryPoint(val serviceName: String, val appFunctionXmlFileName: String)

@Retention(AnnotationRetention.BINARY)
@Target(AnnotationTarget.FUNCTION, AnnotationTarget.PROPERTY, AnnotationTarget.VALUE_PARAMETER)
annotation class AppFunctionStringValueConstraint(val enumValues: Array<String> = [])

abstract class AppFunctionService : Service()

abstract class AppFunctionException(errorMessage: String?) : Exception(errorMessage)

class AppFunctionAppUnknownException(errorMessage: String? = null) : AppFunctionException(errorMessage)

class AppFunctionInvalidArgumentException(errorMessage: String? = null) : AppFunctionException(errorMessage)
