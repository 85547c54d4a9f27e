// @ts-check

/** The pixels of the photo for each unit of the picture. */
const scale = 12;

/**
 * Returns a photo of a picture, as a camera makes it: in high resolution and with the noise of its sensor.
 * @param {string} selector of an SVG image of filled and stroked shapes
 * @returns {Promise<File>}
 */
export async function photograph(selector) {
  const picture = /** @type {SVGSVGElement} */ (document.querySelector(selector));
  const { x, y, width, height } = picture.viewBox.baseVal;
  const canvas = Object.assign(document.createElement("canvas"), { width: width * scale, height: height * scale });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(scale, 0, 0, scale, -x * scale, -y * scale);
  for (const shape of picture.children) draw(context, shape);
  addNoise(context);
  const data = await new Promise((/** @type {(blob: Blob) => void} */ resolve) =>
    canvas.toBlob((blob) => resolve(/** @type {Blob} */ (blob)), "image/jpeg", 0.95));
  return new File([data], "trail-mug.jpg", { type: data.type });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Element} shape a path or a circle
 */
function draw(context, shape) {
  const { fill, stroke, strokeWidth } = getComputedStyle(shape);
  const path = new Path2D(shape.getAttribute("d") ?? "");
  if (shape instanceof SVGCircleElement) path.arc(shape.cx.baseVal.value, shape.cy.baseVal.value, shape.r.baseVal.value, 0, 2 * Math.PI);
  context.fillStyle = fill;
  if (fill !== "none") context.fill(path);
  Object.assign(context, { strokeStyle: stroke, lineWidth: parseFloat(strokeWidth) });
  if (stroke !== "none") context.stroke(path);
}

/** @param {CanvasRenderingContext2D} context */
function addNoise(context) {
  const image = context.getImageData(0, 0, context.canvas.width, context.canvas.height);
  for (let place = 0; place < image.data.length; place += 1) {
    if (place % 4 < 3) image.data[place] += 32 * (Math.random() - 0.5);
  }
  context.putImageData(image, 0, 0);
}
