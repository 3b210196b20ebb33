/**
 * Jobs for workers that speak HTTP: they ask for work, and say by its token how it goes. Each
 * attempt is leased in the journal before its worker hears of it, so that it needs no connection.
 */
@NullMarked
package dev.carillon.server.work;

import org.jspecify.annotations.NullMarked;
