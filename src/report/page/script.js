// What can be done with the page beyond reading it: values at one time, zoom, policies switched off.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const board = document.getElementById("board");
  const axis = document.getElementById("axis");
  const strips = [...board.querySelectorAll(".strip")];
  const [viewWidth, viewHeight, top] = [1000, 100, 2];
  const buckets = Math.max(...data.cases.map((course) => course.active.length));
  let view = [0, data.duration];
  let at = null;

  const make = (tag, properties, parent) => parent.appendChild(Object.assign(document.createElement(tag), properties));
  const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 }).replaceAll(",", " ");
  const clock = (seconds) => {
    const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.round(seconds % 60)];
    const parts = [hours && `${hours}h`, minutes && `${minutes}m`, rest && `${rest}s`].filter(Boolean);
    return parts.join(" ") || "0 s";
  };

  // The printed lines are thinned; with zoom every bucket is to be seen.
  strips.forEach((strip, index) => {
    const { active } = data.cases[index];
    const place = (value, bucket) => {
      const x = ((bucket + 0.5) / active.length) * viewWidth;
      const y = viewHeight - (Math.min(value, data.full) / data.full) * (viewHeight - top);
      return `${x.toFixed(2)},${y.toFixed(1)}`;
    };
    if (active.length) strip.querySelector(".line").setAttribute("d", `M${active.map(place).join("L")}`);
  });

  const marks = strips.map((strip) => ({
    cursor: make("div", { className: "cursor", hidden: true }, strip),
    zone: make("div", { className: "zone", hidden: true }, strip),
    read: make("output", { className: "read" }, strip),
  }));

  const controls = document.createElement("div");
  controls.className = "controls";
  axis.parentElement.after(controls);
  const label = make("label", { textContent: "Read at " }, controls);
  const slider = make("input", { type: "range", min: 0, max: buckets - 1, step: 1, value: 0, id: "time" }, label);
  const clockface = make("output", { id: "clock" }, controls);
  const button = (text, act) => {
    const made = make("button", { type: "button", textContent: text }, controls);
    made.addEventListener("click", act);
    return made;
  };
  const closer = button("Zoom in", () => zoomAround(0.5));
  const farther = button("Zoom out", () => zoomAround(2));
  const whole = button("Whole run", () => zoom(0, data.duration));

  function point(bucket) {
    at = bucket;
    const time = bucket * data.width;
    const place = (time + data.width / 2 - view[0]) / (view[1] - view[0]);
    marks.forEach(({ cursor, read }, index) => {
      const { active, waiting, refused } = data.cases[index];
      cursor.hidden = place < 0 || place > 1;
      cursor.style.left = `${100 * place}%`;
      const more = [[waiting[bucket], "waiting"], [refused[bucket], "refused"]].filter(([value]) => value > 0);
      const words = [[active[bucket], "active"], ...more].map(([value, what]) => `${number(value)} ${what}`);
      read.textContent = words.join(" · ");
    });
    slider.value = bucket;
    slider.setAttribute("aria-valuetext", clock(time));
    clockface.textContent = clock(time);
  }

  function zoom(from, to) {
    const least = Math.min(20 * data.width, data.duration);
    const width = Math.min(Math.max(to - from, least), data.duration);
    const start = Math.min(Math.max((from + to - width) / 2, 0), data.duration - width);
    view = [start, start + width];
    const scale = viewWidth / data.duration;
    const box = `${start * scale} 0 ${width * scale} ${viewHeight}`;
    strips.forEach((strip) => strip.querySelector("svg").setAttribute("viewBox", box));
    ticks();
    closer.disabled = width <= least;
    farther.disabled = whole.disabled = width >= data.duration;
    if (at !== null) point(at);
  }

  function zoomAround(factor) {
    const middle = at === null ? (view[0] + view[1]) / 2 : (at + 0.5) * data.width;
    const half = ((view[1] - view[0]) * factor) / 2;
    zoom(middle - half, middle + half);
  }

  function ticks() {
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
    const width = view[1] - view[0];
    const step = steps.find((candidate) => width / candidate <= 7) ?? Math.ceil(width / 7 / 86400) * 86400;
    axis.replaceChildren();
    for (let time = Math.ceil(view[0] / step) * step; time <= view[1]; time += step) {
      make("span", { textContent: clock(time) }, axis).style.left = `${(100 * (time - view[0])) / width}%`;
    }
  }

  const timeOf = (event, strip) => {
    const box = strip.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return view[0] + share * (view[1] - view[0]);
  };
  const bucketOf = (time) => Math.min(Math.floor(time / data.width), buckets - 1);

  strips.forEach((strip, index) => {
    let start = null;
    strip.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse") {
        start = timeOf(event, strip);
        strip.setPointerCapture(event.pointerId);
      }
    });
    strip.addEventListener("pointermove", (event) => {
      const time = timeOf(event, strip);
      point(bucketOf(time));
      if (start !== null) {
        const { zone } = marks[index];
        const [from, to] = [Math.min(start, time), Math.max(start, time)].map((t) => (t - view[0]) / (view[1] - view[0]));
        zone.hidden = false;
        zone.style.left = `${100 * from}%`;
        zone.style.width = `${100 * (to - from)}%`;
      }
    });
    const stop = (event) => {
      const time = timeOf(event, strip);
      marks[index].zone.hidden = true;
      const far = start !== null && Math.abs(time - start) > (view[1] - view[0]) / 50;
      if (far && event.type === "pointerup") zoom(Math.min(start, time), Math.max(start, time));
      start = null;
    };
    strip.addEventListener("pointerup", stop);
    strip.addEventListener("pointercancel", stop);
    strip.addEventListener("dblclick", () => zoom(0, data.duration));
  });
  slider.addEventListener("input", () => point(Number(slider.value)));

  board.querySelectorAll("li").forEach((row) => {
    const name = row.querySelector(".name");
    const toggle = document.createElement("label");
    const box = make("input", { type: "checkbox", checked: true }, toggle);
    name.replaceWith(toggle);
    toggle.append(name);
    box.addEventListener("change", () => {
      const all = document.querySelectorAll(`[data-case="${row.dataset.case}"]`);
      all.forEach((part) => part.classList.toggle("off", !box.checked));
    });
  });

  document.getElementById("hint").hidden = false;
  zoom(0, data.duration);
})();
