// The band that holds for values of symbols, if any, and what it is of or why there is none; as
// Curve.band_at.  `shade` is drawn, over the batches `over` only; `band` and `of` are those of the
// batch that is among the values.
/**
 * @typedef {object} Shade
 * @property {Pair} [band]
 * @property {string} of
 * @property {{ band: Pair, of: string, over?: Pair }} [shade]
 */
/**
 * @param {Curve} curve
 * @param {SymbolValues} values
 * @returns {Shade}
 */
export function bandAt(curve, values) {
  const row = (curve.bands || []).find(
    ({ when }) =>
      when.experts === values.experts > 1 &&
      (when.most === undefined || values.devices <= when.most),
  );
  const { band, text: of = "", batches: over, beyond = "" } = row ?? { band: curve.band };
  if (!band) return { of };
  const shade = { band, of, over };
  if (over && !(over[0] <= values.batch && values.batch <= over[1])) return { of: beyond, shade };
  return { band, of, shade };
}

// Whether a band is drawn at a value of the sweep.
/**
 * @param {NonNullable<Shade["shade"]>} shade
 * @param {number} x
 */
export const covers = ({ over }, x) => !over || (over[0] <= x && x <= over[1]);
