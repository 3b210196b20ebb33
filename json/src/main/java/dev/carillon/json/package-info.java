/**
 * Payloads as JSON, by Jackson 3 or Jackson 2, with equal bytes.
 *
 * <p>{@link dev.carillon.json.JacksonCodec} is the default and where to begin. What is public here
 * beside the two codecs is for the node.
 */
@NullMarked
package dev.carillon.json;

import org.jspecify.annotations.NullMarked;
