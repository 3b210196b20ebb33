/**
 * What the packages of the API share and users do not need: checks of arguments and units of time.
 * It may change at any time.
 */
@NullMarked
package dev.carillon.api.internal;

import org.jspecify.annotations.NullMarked;
