// The band that holds for values of symbols, if any, and what it is of or why there is none; as
// Curve.band_at.
/**
 * @param {Curve} curve
 * @param {SymbolValues} values
 * @returns {{ band: Pair | undefined, of: string }}
 */
export function bandAt(curve, values) {
  const row = (curve.bands || []).find(
    ({ when }) =>
      when.experts === values.experts > 1 &&
      (when.most === undefined || values.devices <= when.most),
  );
  return row ? { band: row.band, of: row.text } : { band: curve.band, of: "" };
}
