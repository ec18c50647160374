"use strict";
// The panel of a report has nothing of its own.
