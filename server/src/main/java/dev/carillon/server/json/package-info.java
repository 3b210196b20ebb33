/**
 * JSON in and out, without a data binder.
 *
 * <p>A {@link dev.carillon.server.json.Shape} is the table of the fields that an object may have.
 * It reads a body once, as a stream; it refuses fields that are not in the table, fields that come
 * twice, and values of another type, each with the path of the value and what was expected. A field
 * may be taken as it stands ({@code raw}): its bytes are those of the body, so that numbers, spaces
 * and the order of fields of a job's input survive. {@link dev.carillon.server.json.JsonText}
 * writes.
 *
 * <p>State: none but immutable tables. Depth, length of names and of numbers are bounded.
 */
@NullMarked
package dev.carillon.server.json;

import org.jspecify.annotations.NullMarked;
